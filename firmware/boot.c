/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The boot ROM: do what the last image has asked for, choose a slot, check its image, load it into RAM, lock the
 * flash's sectors that say what starts, jump. Where no slot has a good image, or the host asks for it by resets that
 * follow each other before an image could be started, or the board's button is held, it answers HELLO itself and takes a
 * firmware update.
 */
#include "chip.h"
#include "owner_key.h"

#define STATE_MAGIC 0x54534f42u

/*
 * What one start leaves for the next, in RAM, so that it lasts while there is power. A firmware that writes here can
 * only bring the other slot or the rescue code nearer, or begin counting anew.
 */
struct boot_state {
	uint32_t magic;
	uint32_t slot;         /* that was started; SLOT_RESCUE: none, the ROM did not come so far */
	uint32_t traps;        /* sys_scratch's count of traps before that */
	uint32_t seq;          /* of the boot record, for which bad_ends counts */
	uint32_t bad_ends[2];  /* starts of each slot that ended by watchdog or trap since it did a job */
	uint32_t resets;       /* by the host, one after another, since an image was started */
	uint32_t crc;          /* of the words before */
};

#define STATE        ((struct boot_state *)RAM_BOOT_STATE)
#define STATE_WORDS  (offsetof(struct boot_state, crc) / 4)

_Static_assert(RAM_BOOT_STATE + sizeof(struct boot_state) <= RAM_FREE, "boot state");

static void seal_state(void)
{
	STATE->crc = crc32_words(0, (const uint32_t *)STATE, STATE_WORDS);
}

/* How did the last start end? A trap of the firmware counts and asks for a reset. */
static void look_back(const struct boot_info *b)
{
	struct boot_state *s = STATE;
	const uint32_t traps = CHIP(WEFT_CHIP_SYS_SCRATCH(SCRATCH_TRAPS));
	struct boot_choice c;

	if (b->cause == WEFT_CHIP_CAUSE_POWER || s->magic != STATE_MAGIC || s->crc != crc32_words(0, (const uint32_t *)s, STATE_WORDS))
		*s = (struct boot_state){ .magic = STATE_MAGIC, .slot = SLOT_RESCUE };
	record_choose(&c);
	if (s->seq == c.seq && s->slot < 2 && (b->cause == WEFT_CHIP_CAUSE_WATCHDOG || (b->cause == WEFT_CHIP_CAUSE_SOFTWARE && traps != s->traps)))
		s->bad_ends[s->slot]++;
	s->resets = b->cause == WEFT_CHIP_CAUSE_HOST ? s->resets + 1 : 0;
	s->traps = traps;
	s->slot = SLOT_RESCUE;
	seal_state();
}

/* Bad ends count for one boot record; another one begins anew. */
static void look_ahead(const struct boot_info *b)
{
	if (STATE->seq != b->record_seq)
		STATE->bad_ends[0] = STATE->bad_ends[1] = 0;
	STATE->seq = b->record_seq;
	seal_state();
}

/* Slots in the order to try; an image on trial costs a try, unless power was what it lacked. */
static void choose(uint32_t order[2], struct boot_info *b)
{
	struct boot_choice c;

	record_choose(&c);
	b->record = c.record;
	b->record_seq = c.seq;
	order[0] = 0;
	if (c.record != ~0u) {
		order[0] = c.slot;
		if (c.trial && !c.tries_left)
			order[0] = !c.slot;
		else if (c.trial && b->cause != WEFT_CHIP_CAUSE_POWER)
			record_burn_try(c.record);
		b->trial = c.trial && c.tries_left;
	}
	order[1] = !order[0];
}

/* Of no more use for this start: the host is done with resetting, and this slot is to answer for what comes. */
static void hand_over(uint32_t slot)
{
	STATE->slot = slot;
	STATE->resets = 0;
	seal_state();
}

/* The firmware has done a job: what makes a card useful works in this slot. */
static void slot_worked(void)
{
	struct boot_state *s = STATE;

	if (s->slot < 2 && s->bad_ends[s->slot]) {
		s->bad_ends[s->slot] = 0;
		seal_state();
	}
}

static void count_starts(struct boot_info *b)
{
	b->cause = CHIP(WEFT_CHIP_SYS_RESET_CAUSE);
	b->boot_count = CHIP(WEFT_CHIP_SYS_SCRATCH(SCRATCH_BOOTS)) + 1;
	CHIP(WEFT_CHIP_SYS_SCRATCH(SCRATCH_BOOTS)) = b->boot_count;
	if (b->cause == WEFT_CHIP_CAUSE_WATCHDOG)
		CHIP(WEFT_CHIP_SYS_SCRATCH(SCRATCH_BITES)) = CHIP(WEFT_CHIP_SYS_SCRATCH(SCRATCH_BITES)) + 1;
}

static void start_watchdog(void)
{
	CHIP(WEFT_CHIP_WDT_PERIOD) = WEFT_CHIP_BOOT_PERIOD;
	CHIP(WEFT_CHIP_WDT_CONTROL) = WEFT_CHIP_WDT_CONTROL_ENABLE_MASK;
}

static void rescue_message(void)
{
	uint32_t type = msg_in[0] & 0xffff;

	if (type == WEFT_MSG_HELLO && (msg_words == 2 || msg_words == 3)) {
		hello();
	} else if (!update_message(type)) {
		bool reboot = type == WEFT_MSG_REBOOT && msg_words == 1;

		reply_begin(type, reboot ? WEFT_MSG_ERR_OK : WEFT_MSG_ERR_TYPE);
		reply_send(msg_seq());
		while (reboot && !tx_free())
			;
		if (reboot)
			CHIP(WEFT_CHIP_SYS_RESET) = WEFT_CHIP_SYS_RESET_CHIP_MASK;
	}
}

/* Sleep until a message is there or one can go; or long enough for a kick. */
static void rescue_wait(void)
{
	uint64_t wake = time_now() + WEFT_CHIP_BOOT_PERIOD / 4;

	CHIP(WEFT_CHIP_TIMER_CMP_HI) = (uint32_t)(wake >> 32);
	CHIP(WEFT_CHIP_TIMER_CMP_LO) = (uint32_t)wake;
	CHIP(WEFT_CHIP_IRQ_PENDING) = WEFT_CHIP_IRQ_PENDING_LINK_RESET_MASK;
	CHIP(WEFT_CHIP_IRQ_ENABLE) = tx_free() ? WEFT_CHIP_IRQ_ENABLE_LINK_RX_MASK : WEFT_CHIP_IRQ_ENABLE_LINK_TX_MASK;
	csr_write(mie, MIE_TIMER | MIE_EXT);
	__asm__ volatile("wfi");
}

static void rescue(void)
{
	hand_over(SLOT_RESCUE);
	BOOT_INFO->slot = SLOT_RESCUE;
	BOOT_INFO->trial = 0;
	for (;;) {
		wdt_kick();
		if (tx_free() && msg_take())
			rescue_message();
		rescue_wait();
	}
}

void update_log(enum weft_log code, uint32_t a, uint32_t b)
{
	(void)code, (void)a, (void)b;
}

void boot_main(void)
{
	struct boot_info *b = BOOT_INFO;
	uint32_t order[2];

	*b = (struct boot_info){ .magic = BOOT_INFO_MAGIC, .key_id = OWNER_KEY_ID, .development = OWNER_KEY_DEVELOPMENT,
		.check = image_check, .worked = slot_worked };
	count_starts(b);
	start_watchdog();
	look_back(b);
	const bool rescued = STATE->resets >= WEFT_FLASH_RESCUE_RESETS || CHIP(WEFT_CHIP_SYS_STRAP) & WEFT_CHIP_SYS_STRAP_RESCUE_MASK;
	if (!rescued)
		requests_carry_out();
	choose(order, b);
	look_ahead(b);
	for (int i = 0; i < 2 && !rescued; i++) {
		struct weft_flash_image h;

		b->refused[order[i]] = STATE->bad_ends[order[i]] >= WEFT_FLASH_BOOT_TRIES ? WEFT_MSG_ERR_FW_ENDED :
		                       image_check(order[i], &h, true);
		if (b->refused[order[i]])
			continue;
		b->slot = order[i];
		b->trial = b->trial && i == 0;
		b->fw_version = h.fw_version;
		b->security_version = h.security_version;
		b->fw_crc = h.image_crc;
		hand_over(order[i]);
		CHIP(WEFT_CHIP_FLASH_LOCK) = WEFT_CHIP_FLASH_LOCK_LOCK_MASK;
		wdt_kick();
		__asm__ volatile("fence.i" : : : "memory");
		((void (*)(void))(uintptr_t)h.entry)();
	}
	rescue();
}
