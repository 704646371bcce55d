/* SPDX-License-Identifier: Apache-2.0 */
#include "stub_chip.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "driver/backend.h"
#include "include/le.h"
#include "weft/gen/msg.h"
#include "weft/gen/regs.h"

#define DRAM_DEFAULT (16u << 20)
#define HOST_BASE 0x10000u
#define RUN_DELAY 2            /* calls of run() that a job takes at least */

struct job { uint32_t id, state; struct weft_msg_done_reply done; uint32_t msg[7 + 3 * 7]; };

struct chip {
	const struct weft_config *cfg;
	void *npu;                 /* of weft_backend_model */
	uint8_t *dram;
	uint32_t dram_bytes;
	uint8_t *in, *out;         /* streams */
	size_t n_in, cap_in, n_out, cap_out, at_out;
	size_t end[64];            /* ends of frames in out */
	unsigned n_end;
	bool error, hung;
	uint32_t boot_id, boots, cause;
	struct job job[WEFT_MSG_JOBS_KEPT];
	unsigned n_jobs, delay;
	uint64_t cycles;
};

static void grow(uint8_t **p, size_t *cap, size_t need)
{
	if (need > *cap)
		*p = realloc(*p, *cap = 2 * need);
}

static void send(struct chip *c, unsigned type, unsigned seq, uint32_t addr, const void *body, uint32_t len)
{
	bool payload = type != WEFT_FRAME_ACK;

	grow(&c->out, &c->cap_out, c->n_out + 20 + len);
	uint8_t *p = c->out + c->n_out;
	p[0] = WEFT_FRAME_MAGIC;
	p[1] = (uint8_t)type;
	p[2] = (uint8_t)seq;
	p[3] = (uint8_t)(seq >> 8);
	put32(p + 4, addr);
	put32(p + 8, len);
	put32(p + 12, (uint32_t)crc32(0, p, 12));
	if (payload) {
		memcpy(p + 16, body, len);
		put32(p + 16 + len, (uint32_t)crc32(0, body, len));
	}
	c->n_out += payload ? 20 + len : 16;
	c->end[c->n_end++ % 64] = c->n_out;
}

static void ack(struct chip *c, unsigned seq, unsigned status)
{
	send(c, WEFT_FRAME_ACK, seq, status, NULL, 0);
}

/* ---- firmware ---- */

static struct job *find(struct chip *c, uint32_t id)
{
	for (int i = 0; i < WEFT_MSG_JOBS_KEPT; i++)
		if (c->job[i].state && c->job[i].id == id)
			return &c->job[i];
	return NULL;
}

static void run_job(struct chip *c, struct job *j)
{
	struct weft_backend_job b = { .words = (const uint64_t *)(c->dram + j->msg[4]), .n_words = j->msg[5] };
	struct weft_job_result r;
	char msg[WEFT_DEV_MSG];

	b.win[0] = (struct weft_backend_window){ c->dram + j->msg[4], 8ull * j->msg[5], true, false, NULL };
	for (uint32_t i = 0; i < j->msg[6]; i++) {
		const uint32_t *w = j->msg + 7 + 3 * i;
		if (w[1])
			b.win[i + 1] = (struct weft_backend_window){ c->dram + w[0], w[1], w[2] & 1, w[2] & 2, NULL };
	}
	weft_backend_model.run(c->npu, &b, UINT64_MAX, &r, msg);
	j->state = WEFT_MSG_STATE_DONE;
	j->done = (struct weft_msg_done_reply){ .head = WEFT_MSG_DONE | WEFT_MSG_REPLY, .job = j->id,
		.state = j->state, .result = r.status ? WEFT_MSG_RESULT_FAULT : WEFT_MSG_RESULT_OK,
		.fault = r.fault_code << WEFT_REG_FAULT_CODE_LSB | r.fault_unit << WEFT_REG_FAULT_UNIT_LSB,
		.fault_cmd = r.fault_cmd, .fault_tag = r.fault_tag, .fault_info = r.fault_info };
	memcpy(j->done.counters, &r.counters, sizeof(j->done.counters));
	send(c, WEFT_FRAME_REPLY, 0, 0, &j->done, sizeof(j->done));
}

static bool window_bad(const struct chip *c, uint64_t base, uint64_t size)
{
	return base < HOST_BASE || base + size > c->dram_bytes || base % 64;
}

static uint32_t submit(struct chip *c, const uint32_t *m, uint32_t len, struct weft_msg_submit_reply *r)
{
	struct job *j = len >= 28 ? find(c, m[1]) : NULL;

	if (len < 28 || m[6] > 7 || len != 28 + 12 * m[6])
		return WEFT_MSG_ERR_LENGTH;
	if (!j) {
		unsigned waiting = 0;
		for (int i = 0; i < WEFT_MSG_JOBS_KEPT; i++)
			waiting += c->job[i].state == WEFT_MSG_STATE_QUEUED;
		if (waiting == WEFT_MSG_JOBS_MAX)
			return WEFT_MSG_ERR_QUEUE_FULL;
		if (window_bad(c, m[4], 8ull * m[5]))
			return WEFT_MSG_ERR_WINDOW;
		for (uint32_t i = 0; i < m[6]; i++)
			if (m[8 + 3 * i] && window_bad(c, m[7 + 3 * i], m[8 + 3 * i]))
				return WEFT_MSG_ERR_WINDOW;
		j = &c->job[c->n_jobs++ % WEFT_MSG_JOBS_KEPT];
		memset(j, 0, sizeof(*j));
		j->id = m[1];
		j->state = WEFT_MSG_STATE_QUEUED;
		memcpy(j->msg, m, len);
		c->delay = RUN_DELAY;
	}
	r->job = j->id;
	r->state = j->state;
	return 0;
}

static void message(struct chip *c, unsigned seq, const uint8_t *p, uint32_t len)
{
	uint32_t m[WEFT_FRAME_MSG_MAX / 4], r[WEFT_FRAME_MSG_MAX / 4] = { 0 }, n = 4, err = 0;
	struct job *j;

	memcpy(m, p, len);
	switch (m[0] & 0xffff) {
	case WEFT_MSG_HELLO: {
		struct weft_msg_hello_reply h = { .protocol = WEFT_MSG_VERSION_VALUE, .fw_version = 0x10000,
			.npu_version = WEFT_HW_MAJOR << WEFT_REG_VERSION_MAJOR_LSB, .npu_config = c->cfg->reg_config,
			.npu_features = c->cfg->features, .dram_bytes = c->dram_bytes, .host_base = HOST_BASE,
			.host_limit = c->dram_bytes, .clock_khz = 100000, .jobs_max = WEFT_MSG_JOBS_MAX,
			.boot_count = c->boots, .reset_cause = c->cause, .boot_id = c->boot_id,
			.max_msg = WEFT_FRAME_MSG_MAX };
		memcpy(h.serial, "STUB", 4);
		memcpy(r, &h, n = sizeof(h));
		break;
	}
	case WEFT_MSG_PING:
		memcpy(r, m, n = len);
		break;
	case WEFT_MSG_SUBMIT:
		err = submit(c, m, len, (struct weft_msg_submit_reply *)r);
		n = err ? 4 : sizeof(struct weft_msg_submit_reply);
		break;
	case WEFT_MSG_DONE:
	case WEFT_MSG_CANCEL:
		j = find(c, m[1]);
		if (!j) {
			err = WEFT_MSG_ERR_NO_JOB;
		} else if (m[0] == WEFT_MSG_DONE) {
			n = sizeof(j->done);
			memcpy(r, &j->done, n);
			r[1] = j->id;
			r[2] = j->state;
		} else {
			n = 12;
			r[1] = j->id;
			r[2] = j->state;
			if (j->state == WEFT_MSG_STATE_QUEUED) {
				j->state = WEFT_MSG_STATE_DONE;
				j->done = (struct weft_msg_done_reply){ .head = WEFT_MSG_DONE | WEFT_MSG_REPLY,
					.job = j->id, .state = j->state, .result = WEFT_MSG_RESULT_CANCELLED };
			}
		}
		break;
	case WEFT_MSG_ABORT_ALL:
		memset(c->job, 0, sizeof(c->job));
		n = 8;
		break;
	case WEFT_MSG_REG_READ:
		n = 8;
		r[1] = 0x57454654;
		break;
	default:
		err = WEFT_MSG_ERR_TYPE;
	}
	r[0] = (m[0] & 0xffff) | WEFT_MSG_REPLY | err << 16;
	send(c, WEFT_FRAME_REPLY, seq, 0, r, n);
	if ((m[0] & 0xffff) == WEFT_MSG_CANCEL && (j = find(c, m[1])) && j->state == WEFT_MSG_STATE_DONE)
		send(c, WEFT_FRAME_REPLY, 0, 0, &j->done, sizeof(j->done));
}

/* ---- link ---- */

static bool fenced(const struct chip *c, uint64_t addr, uint64_t len)
{
	return addr < HOST_BASE || addr + len > c->dram_bytes;
}

/* One frame of what came. Bytes used; 0: not all there. */
static size_t frame(struct chip *c, const uint8_t *p, size_t n)
{
	if (n < 16)
		return 0;
	uint32_t addr = get32(p + 4), len = get32(p + 8);
	unsigned seq = p[2] | p[3] << 8u;
	if (p[0] != WEFT_FRAME_MAGIC || get32(p + 12) != crc32(0, p, 12)) {
		ack(c, 0, WEFT_FRAME_STATUS_RESYNC);
		c->error = true;
		return n;
	}
	if (p[1] == WEFT_FRAME_READ) {
		if (!len || len > WEFT_FRAME_WRITE_MAX)
			ack(c, seq, WEFT_FRAME_STATUS_INVALID);
		else if (fenced(c, addr, len))
			ack(c, seq, WEFT_FRAME_STATUS_FENCE);
		else
			send(c, WEFT_FRAME_DATA, seq, addr, c->dram + addr, len);
		return 16;
	}
	bool msg = p[1] == WEFT_FRAME_MSG;
	if ((!msg && p[1] != WEFT_FRAME_WRITE) || !len || len > (msg ? WEFT_FRAME_MSG_MAX : WEFT_FRAME_WRITE_MAX)) {
		ack(c, seq, WEFT_FRAME_STATUS_INVALID);
		c->error = true;
		return n;
	}
	if (n < 20ull + len)
		return 0;
	bool good = get32(p + 16 + len) == crc32(0, p + 16, len);
	if (msg && c->hung)
		return 0;
	if (!msg && fenced(c, addr, len)) {
		ack(c, seq, WEFT_FRAME_STATUS_FENCE);
	} else if (!good) {
		if (!msg)
			memset(c->dram + addr, 0xee, len);     /* it may change them */
		ack(c, seq, WEFT_FRAME_STATUS_CRC);
	} else if (msg) {
		message(c, seq, p + 16, len);
	} else {
		memcpy(c->dram + addr, p + 16, len);
		ack(c, seq, WEFT_FRAME_STATUS_OK);
	}
	return 20 + len;
}

static size_t stub_put(void *chip, const uint8_t *data, size_t len)
{
	struct chip *c = chip;

	if (c->error || !len)
		return len;
	/* No more than a message ahead while the core does not take it. */
	if (c->hung && c->n_in > 4096)
		return 0;
	grow(&c->in, &c->cap_in, c->n_in + len);
	memcpy(c->in + c->n_in, data, len);
	c->n_in += len;
	return len;
}

static size_t stub_get(void *chip, uint8_t *data, size_t len, bool *frame_end)
{
	struct chip *c = chip;
	size_t to = c->n_out;

	*frame_end = false;
	if (to == c->at_out)
		return 0;
	for (unsigned i = c->n_end > 64 ? c->n_end - 64 : 0; i < c->n_end; i++) {
		if (c->end[i % 64] > c->at_out) {
			to = c->end[i % 64];
			break;
		}
	}
	size_t n = to - c->at_out < len ? to - c->at_out : len;
	memcpy(data, c->out + c->at_out, n);
	c->at_out += n;
	*frame_end = n && c->at_out == to;
	if (c->at_out == c->n_out)
		c->at_out = c->n_out = c->n_end = 0;
	return n;
}

static bool stub_run(void *chip, uint64_t cycles)
{
	struct chip *c = chip;
	size_t used = 0, k;
	bool busy = false;

	c->cycles += cycles;
	while (!c->error && c->n_end < 32 && used < c->n_in && (k = frame(c, c->in + used, c->n_in - used))) {
		used += k;
		busy = true;
	}
	if (c->error)
		used = c->n_in;
	if (used)
		memmove(c->in, c->in + used, c->n_in - used);
	c->n_in -= used;
	if (c->hung)
		return false;
	if (c->delay) {
		c->delay--;
		return true;
	}
	for (unsigned i = 0; i < WEFT_MSG_JOBS_KEPT; i++) {
		/* From the oldest. */
		struct job *j = &c->job[(c->n_jobs + i) % WEFT_MSG_JOBS_KEPT];
		if (j->state == WEFT_MSG_STATE_QUEUED) {
			run_job(c, j);
			return true;
		}
	}
	return busy;
}

static void stub_link_reset(void *chip)
{
	struct chip *c = chip;

	c->n_in = c->n_out = c->at_out = c->n_end = 0;
	c->error = false;
}

static void stub_reset(void *chip, enum weft_chip_cause cause)
{
	struct chip *c = chip;

	stub_link_reset(c);
	memset(c->job, 0, sizeof(c->job));
	/* What a host must not rely on does not stay. */
	memset(c->dram, 0xcc, c->dram_bytes);
	c->hung = false;
	c->boots = cause == WEFT_CHIP_CAUSE_POWER ? 1 : c->boots + 1;
	c->boot_id += 0x9e3779b9;
	c->cause = cause;
}

static void stub_close(void *chip)
{
	struct chip *c = chip;

	if (c->npu)
		weft_backend_model.close(c->npu);
	free(c->dram);
	free(c->in);
	free(c->out);
	free(c);
}

static int stub_open(const struct weft_chip_options *o, void **chip, char *msg)
{
	const struct weft_config *cfg = weft_config_find(o->config ? o->config : "w16");
	struct weft_dev_options d = weft_dev_options_default();
	struct chip *c = calloc(1, sizeof(*c));

	if (!c || !cfg)
		return -EINVAL;
	c->cfg = cfg;
	c->dram_bytes = o->dram_bytes ? (uint32_t)o->dram_bytes : DRAM_DEFAULT;
	c->dram = malloc(c->dram_bytes);
	if (!c->dram || weft_backend_model.open(&d, cfg, &c->npu, msg)) {
		stub_close(c);
		return -ENOMEM;
	}
	stub_reset(c, WEFT_CHIP_CAUSE_POWER);
	*chip = c;
	return 0;
}

static uint32_t stub_status(void *chip)
{
	const struct chip *c = chip;

	return (c->error ? WEFT_USB_STATUS_LINK_ERROR : 0) | (c->n_out ? WEFT_USB_STATUS_IN_PENDING : 0);
}

static int stub_plant(void *chip, const struct weft_chip_plant *p)
{
	struct chip *c = chip;

	if (p->kind == WEFT_CHIP_PLANT_HANG || p->kind == WEFT_CHIP_PLANT_NONE)
		c->hung = p->kind == WEFT_CHIP_PLANT_HANG;
	else if (p->kind == WEFT_CHIP_PLANT_MEMORY && p->addr < c->dram_bytes)
		c->dram[p->addr] ^= 1u << p->bit;
	else
		return -ENOTSUP;
	return 0;
}

static uint64_t stub_cycles(void *chip)
{
	return ((struct chip *)chip)->cycles;
}

static uint64_t stub_instret(void *chip)
{
	(void)chip;
	return 0;
}

static uint8_t *stub_dram(void *chip)
{
	return ((struct chip *)chip)->dram;
}

const struct weft_chip_ops stub_chip = {
	.version = WEFT_CHIP_API_VERSION,
	.name = "stub",
	.open = stub_open,
	.close = stub_close,
	.put = stub_put,
	.get = stub_get,
	.run = stub_run,
	.link_reset = stub_link_reset,
	.reset = stub_reset,
	.status = stub_status,
	.plant = stub_plant,
	.cycles = stub_cycles,
	.instret = stub_instret,
	.dram = stub_dram,
};
