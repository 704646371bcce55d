/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The firmware: one loop that takes messages, runs jobs and sleeps. Nothing is
 * allocated, and the only interrupt that is ever taken is the watchdog's warning.
 */
#include "fw.h"

/* The longest sleep; the watchdog wants a kick within BOOT_PERIOD. */
#define NAP_CYCLES (WEFT_CHIP_BOOT_PERIOD / 4)

struct stats stats;

/* ---- when things go wrong ---- */

/* From start.S: a trap, or the watchdog's warning. ra is that of what was running. */
void trapped(uint32_t ra)
{
	uint32_t cause = csr_read(mcause), pc = csr_read(mepc);

	if (cause >> 31) {
		log_add(WEFT_LOG_HANG, pc, ra);
		for (;;)
			;
	}
	log_add(WEFT_LOG_TRAP, cause, pc);
	log_add(WEFT_LOG_TRAP_VALUE, csr_read(mtval), ra);
	CHIP(WEFT_CHIP_SYS_SCRATCH(SCRATCH_TRAPS)) = CHIP(WEFT_CHIP_SYS_SCRATCH(SCRATCH_TRAPS)) + 1;
	CHIP(WEFT_CHIP_SYS_RESET) = WEFT_CHIP_SYS_RESET_CHIP_MASK;
	for (;;)
		;
}

void update_log(enum weft_log code, uint32_t a, uint32_t b)
{
	log_add(code, a, b);
}

/* ---- messages ---- */

static void reply_error(uint32_t type, enum weft_msg_error error)
{
	reply_begin(type, error);
	reply_send(msg_seq());
}

static void on_link_reset(void)
{
	CHIP(WEFT_CHIP_IRQ_PENDING) = WEFT_CHIP_IRQ_PENDING_LINK_RESET_MASK;
	client_link_reset();
	stats.link_resets++;
	log_add(WEFT_LOG_LINK_RESET, 0, 0);
}

static void bad_message(uint32_t type, enum weft_msg_error error)
{
	stats.messages_bad++;
	log_add(WEFT_LOG_BAD_MESSAGE, type, msg_words * 4);
	reply_error(type, error);
}

static void greet(void)
{
	struct boot_info *b = BOOT_INFO;
	bool ours = msg_in[1] >> 16 == WEFT_MSG_MAJOR;

	if (msg_words < 2 || msg_words > 3) {
		bad_message(WEFT_MSG_HELLO, WEFT_MSG_ERR_LENGTH);
		return;
	}
	/* A reset in front of this message must not be noticed behind it. */
	if (CHIP(WEFT_CHIP_IRQ_PENDING) & WEFT_CHIP_IRQ_PENDING_LINK_RESET_MASK)
		on_link_reset();
	if (ours)
		client_hello(msg_words > 2 ? msg_in[2] : 0);
	hello();
	if (!ours || !b->trial)
		return;
	if (!ask_confirm(b->record_seq)) {
		b->trial = 0;
		log_add(WEFT_LOG_CONFIRMED, b->slot, 0);
	} else {
		log_add(WEFT_LOG_FLASH_ERROR, 0, b->record);
	}
}

static void ping(void)
{
	reply_begin(WEFT_MSG_PING, WEFT_MSG_ERR_OK);
	for (uint32_t i = 1; i < msg_words; i++)
		reply_put(msg_in[i]);
	reply_send(msg_seq());
}

static void send_stats(void)
{
	uint64_t now = time_now();
	const uint32_t *s = (const uint32_t *)&stats;

	reply_begin(WEFT_MSG_STATS, WEFT_MSG_ERR_OK);
	reply_put((uint32_t)now);
	reply_put((uint32_t)(now >> 32));
	for (uint32_t i = 0; i < sizeof(stats) / 4; i++)
		reply_put(s[i]);
	reply_put(CHIP(WEFT_CHIP_LINK_FRAMES_IN));
	reply_put(CHIP(WEFT_CHIP_LINK_FRAMES_OUT));
	reply_put(CHIP(WEFT_CHIP_LINK_HEADER_ERRORS));
	reply_put(CHIP(WEFT_CHIP_LINK_PAYLOAD_ERRORS));
	reply_put(CHIP(WEFT_CHIP_LINK_REFUSED));
	reply_put(BOOT_INFO->boot_count);
	reply_put(CHIP(WEFT_CHIP_SYS_SCRATCH(SCRATCH_BITES)));
	reply_put(CHIP(WEFT_CHIP_SYS_SCRATCH(SCRATCH_TRAPS)));
	reply_put(log_next());
	reply_send(msg_seq());
}

_Static_assert(offsetof(struct weft_msg_stats_reply, jobs_ok) == 12 &&
               offsetof(struct weft_msg_stats_reply, frames_in) == 12 + sizeof(struct stats), "struct stats");

static void reg_read(void)
{
	uint32_t offset = msg_in[1], n = msg_in[2];

	if (offset % 4 || offset >= WEFT_REG_SPACE || n > WEFT_MSG_REGS_MAX || n > (WEFT_REG_SPACE - offset) / 4) {
		reply_error(WEFT_MSG_REG_READ, WEFT_MSG_ERR_REG);
		return;
	}
	reply_begin(WEFT_MSG_REG_READ, WEFT_MSG_ERR_OK);
	for (uint32_t i = 0; i < n; i++)
		reply_put(npu_register(offset + 4 * i));
	reply_send(msg_seq());
}

static void reg_write(void)
{
	uint32_t offset = msg_in[1];

	if (offset % 4 || offset >= WEFT_REG_SPACE || offset == WEFT_REG_CTRL || offset == WEFT_REG_IRQ_ENABLE) {
		reply_error(WEFT_MSG_REG_WRITE, WEFT_MSG_ERR_REG);
		return;
	}
	npu_forget();
	NPU(offset) = msg_in[2];
	reply_error(WEFT_MSG_REG_WRITE, WEFT_MSG_ERR_OK);
}

static void reboot(void)
{
	log_add(WEFT_LOG_REBOOT, 0, 0);
	reply_error(WEFT_MSG_REBOOT, WEFT_MSG_ERR_OK);
	/* A host that takes nothing any more is no reason to stay. */
	uint64_t until = time_now() + NAP_CYCLES;
	while (!tx_free() && time_now() < until)
		;
	CHIP(WEFT_CHIP_SYS_RESET) = WEFT_CHIP_SYS_RESET_CHIP_MASK;
}

static void read_log(void)
{
	log_reply(msg_in[1]);
}

/* words: of the whole message; 0: the handler looks itself. */
static const struct handler {
	void (*run)(void);
	uint8_t words;
	bool alone;            /* not while there are jobs */
} handlers[] = {
	[WEFT_MSG_HELLO] = { greet, 0, false },
	[WEFT_MSG_PING] = { ping, 0, false },
	[WEFT_MSG_SUBMIT] = { jobs_submit, 0, false },
	[WEFT_MSG_DONE] = { jobs_query, 2, false },
	[WEFT_MSG_CANCEL] = { jobs_cancel, 2, false },
	[WEFT_MSG_ABORT_ALL] = { jobs_abort_all, 1, false },
	[WEFT_MSG_STATS] = { send_stats, 1, false },
	[WEFT_MSG_LOG_READ] = { read_log, 2, false },
	[WEFT_MSG_REG_READ] = { reg_read, 3, false },
	[WEFT_MSG_REG_WRITE] = { reg_write, 3, true },
	[WEFT_MSG_SELF_TEST] = { self_test, 2, true },
	[WEFT_MSG_FW_BEGIN] = { NULL, 0, true },
	[WEFT_MSG_FW_DATA] = { NULL, 0, true },
	[WEFT_MSG_FW_END] = { NULL, 0, true },
	[WEFT_MSG_FW_SWITCH] = { NULL, 0, true },
	[WEFT_MSG_REBOOT] = { reboot, 1, false },
	[WEFT_MSG_FW_BOOT] = { NULL, 0, true },
	[WEFT_MSG_FW_FLOOR] = { NULL, 0, true },
	[WEFT_MSG_RELEASE] = { client_release, 2, false },
};

static void handle_message(void)
{
	uint32_t type = msg_in[0] & 0xffff;

	stats.messages++;
	if (!type || type >= sizeof(handlers) / sizeof(handlers[0])) {
		bad_message(type, WEFT_MSG_ERR_TYPE);
		return;
	}
	const struct handler *h = &handlers[type];
	if (h->words && msg_words != h->words)
		bad_message(type, WEFT_MSG_ERR_LENGTH);
	else if (h->alone && jobs_any())
		reply_error(type, WEFT_MSG_ERR_BUSY);
	else if (h->run)
		h->run();
	else
		update_message(type);
}

/* ---- the loop ---- */

/* Sleep until something that this loop can act on happens. The watchdog's warning
 * is taken as an interrupt outside, and only wakes here. */
static void nap(void)
{
	uint64_t wake = time_now() + NAP_CYCLES, deadline = jobs_deadline();
	uint32_t want = WEFT_CHIP_IRQ_ENABLE_NPU_MASK | WEFT_CHIP_IRQ_ENABLE_LINK_RESET_MASK | WEFT_CHIP_IRQ_ENABLE_WDT_MASK;

	if (deadline < wake)
		wake = deadline;
	want |= tx_free() ? WEFT_CHIP_IRQ_ENABLE_LINK_RX_MASK : WEFT_CHIP_IRQ_ENABLE_LINK_TX_MASK;
	csr_clear(mstatus, MSTATUS_MIE);
	CHIP(WEFT_CHIP_TIMER_CMP_HI) = (uint32_t)(wake >> 32);
	CHIP(WEFT_CHIP_TIMER_CMP_LO) = (uint32_t)wake;
	CHIP(WEFT_CHIP_IRQ_ENABLE) = want;
	csr_set(mie, MIE_TIMER);
	__asm__ volatile("wfi" : : : "memory");
	csr_clear(mie, MIE_TIMER);
	CHIP(WEFT_CHIP_IRQ_ENABLE) = WEFT_CHIP_IRQ_ENABLE_WDT_MASK;
	csr_set(mstatus, MSTATUS_MIE);
}

/*
 * Does one thing that is due: after a link reset what that asks for, jobs that end or begin, and then one DONE
 * or one message if the transmitter is free. Returns whether a DONE or a message was dealt with; if not, there
 * is nothing to do but wait.
 */
static bool step(void)
{
	if (CHIP(WEFT_CHIP_IRQ_PENDING) & WEFT_CHIP_IRQ_PENDING_LINK_RESET_MASK)
		on_link_reset();
	jobs_poll();
	if (!tx_free())
		return false;
	if (jobs_report())
		return true;
	if (!msg_take())
		return false;
	handle_message();
	return true;
}

static void log_boot(const struct boot_info *b)
{
	log_init(b->cause != WEFT_CHIP_CAUSE_POWER);
	log_add(WEFT_LOG_BOOT, b->cause, b->boot_count);
	for (uint32_t i = 0; i < 2; i++)
		if (b->refused[i])
			log_add(WEFT_LOG_BOOT_REFUSED, i, b->refused[i]);
	log_add(WEFT_LOG_BOOT_SLOT, b->slot, b->fw_version);
}

int main(void)
{
	log_boot(BOOT_INFO);
	npu_init();
	client_init(BOOT_INFO);
	CHIP(WEFT_CHIP_IRQ_ENABLE) = WEFT_CHIP_IRQ_ENABLE_WDT_MASK;
	csr_write(mie, MIE_EXT);
	csr_set(mstatus, MSTATUS_MIE);
	for (;;) {
		wdt_kick();
		if (!step())
			nap();
	}
}
