/* Generated from include/spec/msg.toml by tools/gen.py; edit that and run `make gen`. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WEFT_GEN_MSG_H
#define WEFT_GEN_MSG_H

#include <stddef.h>
#include <stdint.h>

#include <weft/api.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Version of frames and messages. */
#define WEFT_MSG_VERSION_VALUE 0x00010002u
#define WEFT_MSG_MAJOR 1

/* Frames. */
#define WEFT_FRAME_MAGIC 0xa5
#define WEFT_FRAME_HEADER_BYTES 16
#define WEFT_FRAME_WRITE_MAX 1048576
#define WEFT_FRAME_MSG_MIN 4
#define WEFT_FRAME_MSG_MAX 512

enum weft_frame_type {
	WEFT_FRAME_WRITE = 1, /* payload to card memory at addr; len 1..write_max, any alignment */
	WEFT_FRAME_READ  = 2, /* len bytes of card memory at addr, 1..write_max */
	WEFT_FRAME_MSG   = 3, /* message to firmware; len msg_min..msg_max, a multiple of 4 */
	WEFT_FRAME_ACK   = 129, /* answer to seq; addr is the status */
	WEFT_FRAME_DATA  = 130, /* answer to READ seq; addr as asked */
	WEFT_FRAME_REPLY = 131, /* message from firmware; seq of the message that it answers, 0 if none */
};

/* Status in an ACK. */
enum weft_frame_status {
	WEFT_FRAME_STATUS_OK      = 0, /* done */
	WEFT_FRAME_STATUS_CRC     = 1, /* payload CRC is wrong; send it again */
	WEFT_FRAME_STATUS_FENCE   = 2, /* outside the card memory that the host may use */
	WEFT_FRAME_STATUS_INVALID = 3, /* unknown type or bad length */
	WEFT_FRAME_STATUS_RESYNC  = 4, /* broken header; reset the link */
};

/* USB. */
#define WEFT_USB_VENDOR_ID 0x1209
#define WEFT_USB_PRODUCT_ID 0x1
#define WEFT_USB_DEVICE_BCD 0x100
#define WEFT_USB_USB_BCD 0x210
#define WEFT_USB_CLASS 0xff
#define WEFT_USB_SUBCLASS 0x57
#define WEFT_USB_PROTOCOL 0x1
#define WEFT_USB_EP_OUT 0x1
#define WEFT_USB_EP_IN 0x81
#define WEFT_USB_PACKET_FULL 0x40
#define WEFT_USB_PACKET_HIGH 0x200
#define WEFT_USB_POWER_MA 0x1f4
#define WEFT_USB_MANUFACTURER "Weft"
#define WEFT_USB_PRODUCT "Weft NPU card"
#define WEFT_USB_MS_VENDOR_CODE 0x4d
#define WEFT_USB_INTERFACE_GUID "{6f0f0c5e-3c0b-4c3b-9d0e-77656674c0de}"

/* Vendor requests on endpoint 0. */
enum weft_usb_request {
	WEFT_USB_REQ_LINK_RESET = 1, /* empty both streams, leave the error state */
	WEFT_USB_REQ_CHIP_RESET = 2, /* reset the chip, cause host; also resets the link */
	WEFT_USB_REQ_GET_STATUS = 3, /* u32 flags (enum weft_usb_status), u32 count of link resets since power */
};

/* Flags of GET_STATUS. */
enum weft_usb_status {
	WEFT_USB_STATUS_LINK_ERROR = 1, /* the link is in its error state */
	WEFT_USB_STATUS_RX_FULL    = 2, /* firmware has not taken the last message */
	WEFT_USB_STATUS_IN_PENDING = 4, /* bytes for the host are waiting */
	WEFT_USB_STATUS_CORE_IDLE  = 8, /* the core waits for an interrupt */
};

/* Bounds. */
#define WEFT_MSG_JOBS_MAX 8 /* jobs queued and running together */
#define WEFT_MSG_JOBS_KEPT 16 /* jobs that the card remembers, the youngest */
#define WEFT_MSG_WINDOWS_MAX 7 /* windows of a job beside the stream's */
#define WEFT_MSG_LOG_MAX 25 /* log entries in one reply */
#define WEFT_MSG_CLIENTS_MAX 9 /* clients in one reply */
#define WEFT_MSG_REGS_MAX 120 /* registers in one reply */
#define WEFT_MSG_FW_CHUNK 256 /* bytes of a firmware image in one message */
#define WEFT_MSG_NAME_WORDS 4 /* 16 characters, filled with 0 */

/* Types: bits 15:0 of a message's first word; replies have WEFT_MSG_REPLY set as well. */
#define WEFT_MSG_REPLY 0x8000u
enum weft_msg_type {
	WEFT_MSG_HELLO     = 1,
	WEFT_MSG_PING      = 2,
	WEFT_MSG_SUBMIT    = 3,
	WEFT_MSG_DONE      = 4,
	WEFT_MSG_CANCEL    = 5,
	WEFT_MSG_ABORT_ALL = 6,
	WEFT_MSG_STATS     = 7,
	WEFT_MSG_LOG_READ  = 8,
	WEFT_MSG_REG_READ  = 9,
	WEFT_MSG_REG_WRITE = 10,
	WEFT_MSG_SELF_TEST = 11,
	WEFT_MSG_FW_BEGIN  = 12,
	WEFT_MSG_FW_DATA   = 13,
	WEFT_MSG_FW_END    = 14,
	WEFT_MSG_FW_SWITCH = 15,
	WEFT_MSG_REBOOT    = 16,
	WEFT_MSG_FW_BOOT   = 17,
	WEFT_MSG_FW_FLOOR  = 18,
	WEFT_MSG_RELEASE   = 20,
	WEFT_MSG_CLIENTS   = 19,
};

/* Bits 31:16 of a reply's first word. */
enum weft_msg_error {
	WEFT_MSG_ERR_OK           = 0, /* done */
	WEFT_MSG_ERR_TYPE         = 1, /* unknown message type */
	WEFT_MSG_ERR_LENGTH       = 2, /* message has a wrong length */
	WEFT_MSG_ERR_VERSION      = 3, /* protocol of another major version */
	WEFT_MSG_ERR_BUSY         = 4, /* not while a job runs or waits */
	WEFT_MSG_ERR_QUEUE_FULL   = 5, /* eight jobs are waiting; wait for one */
	WEFT_MSG_ERR_NO_JOB       = 6, /* no such job is known */
	WEFT_MSG_ERR_JOB_ID       = 7, /* job identity 0 is not allowed */
	WEFT_MSG_ERR_WINDOW       = 8, /* a window lies outside the memory that jobs may use */
	WEFT_MSG_ERR_ALIGN        = 9, /* a window's or the stream's base is no multiple of 64 */
	WEFT_MSG_ERR_STREAM       = 10, /* the stream is empty or too long */
	WEFT_MSG_ERR_PERM         = 11, /* a window's permissions are none, or unknown bits */
	WEFT_MSG_ERR_OVERLAP      = 12, /* a window that may be written overlaps another of the job, or its stream */
	WEFT_MSG_ERR_REG          = 13, /* no register there, or it may not be written */
	WEFT_MSG_ERR_NPU_DEAD     = 14, /* the NPU does not answer; reset the card */
	WEFT_MSG_ERR_FLASH        = 15, /* the flash did not take it */
	WEFT_MSG_ERR_FW_STATE     = 16, /* no firmware update is under way, or not at this step */
	WEFT_MSG_ERR_FW_RANGE     = 17, /* firmware image: size or offset out of range */
	WEFT_MSG_ERR_FW_HEADER    = 18, /* firmware image: header is broken */
	WEFT_MSG_ERR_FW_CRC       = 19, /* firmware image: contents do not match their checksum */
	WEFT_MSG_ERR_FW_VERSION   = 20, /* firmware image: for another chip or protocol */
	WEFT_MSG_ERR_SELF_TEST    = 21, /* self-test failed */
	WEFT_MSG_ERR_ARGUMENT     = 22, /* an argument is out of range */
	WEFT_MSG_ERR_FW_KEY       = 23, /* firmware image: signed with a key that is not this card's, or not at all */
	WEFT_MSG_ERR_FW_SIGNATURE = 24, /* firmware image: its signature is wrong */
	WEFT_MSG_ERR_FW_ROLLBACK  = 25, /* firmware image: its security version is below the card's floor */
	WEFT_MSG_ERR_FW_ENDED     = 26, /* firmware image: its starts ended by watchdog or trap too often, with no job done */
	WEFT_MSG_ERR_DENIED       = 27, /* not for this client: a broker has the card, and only its administrators may */
};

/* Where a job is. */
enum weft_msg_state {
	WEFT_MSG_STATE_QUEUED  = 1, /* waits */
	WEFT_MSG_STATE_RUNNING = 2, /* runs */
	WEFT_MSG_STATE_DONE    = 3, /* ended; result says how */
};

/* How a job ended. */
enum weft_msg_result {
	WEFT_MSG_RESULT_OK        = 0, /* reached END */
	WEFT_MSG_RESULT_FAULT     = 1, /* the NPU latched a fault */
	WEFT_MSG_RESULT_DEADLINE  = 2, /* took longer than its deadline; stopped */
	WEFT_MSG_RESULT_CANCELLED = 3, /* cancelled */
	WEFT_MSG_RESULT_HUNG      = 4, /* stopped, and the NPU had to be reset the hard way */
};

/* Permissions of a window. */
enum weft_msg_perm {
	WEFT_MSG_PERM_READ  = 1, /* LD may read it */
	WEFT_MSG_PERM_WRITE = 2, /* ST may write it */
};

/* Self-tests. */
enum weft_msg_test {
	WEFT_MSG_TEST_RAM   = 1, /* march through the free RAM of the core */
	WEFT_MSG_TEST_CRC   = 2, /* CRC-32 of a known text, multiplication and division */
	WEFT_MSG_TEST_TIMER = 4, /* timer runs and compares */
	WEFT_MSG_TEST_NPU   = 8, /* registers of the NPU: identity, every window register holds patterns */
	WEFT_MSG_TEST_DRAM  = 16, /* patterns in the firmware's part of card memory */
	WEFT_MSG_TEST_FLASH = 32, /* flash identity, and the checksum of the running slot */
};

/* Codes in the log. */
enum weft_log {
	WEFT_LOG_BOOT         = 1, /* start {b} since power, cause {a} */
	WEFT_LOG_BOOT_SLOT    = 2, /* running slot {a}, version 0x{b} */
	WEFT_LOG_BOOT_REFUSED = 3, /* slot {a} refused by the boot ROM: error {b} */
	WEFT_LOG_CONFIRMED    = 4, /* image in slot {a} confirmed */
	WEFT_LOG_TRAP         = 5, /* trap 0x{a} at 0x{b} */
	WEFT_LOG_TRAP_VALUE   = 6, /* mtval 0x{a}, ra 0x{b} */
	WEFT_LOG_HANG         = 7, /* watchdog about to bite at 0x{a}, ra 0x{b} */
	WEFT_LOG_JOB_FAULT    = 8, /* job {a}: fault 0x{b} */
	WEFT_LOG_JOB_STOPPED  = 9, /* job {a}: stopped, result {b} */
	WEFT_LOG_JOB_REFUSED  = 10, /* job {a}: refused, error {b} */
	WEFT_LOG_NPU_RESET    = 11, /* NPU reset by force, answers: {a} */
	WEFT_LOG_LINK_RESET   = 12, /* link reset */
	WEFT_LOG_BAD_MESSAGE  = 13, /* message type {a}, {b} bytes, refused */
	WEFT_LOG_FW_BEGIN     = 14, /* firmware update into slot {a}, {b} bytes */
	WEFT_LOG_FW_CHECKED   = 15, /* image in slot {a} checked: error {b} */
	WEFT_LOG_FW_SWITCHED  = 16, /* slot {a} is next, record {b} */
	WEFT_LOG_SELF_TEST    = 17, /* self-test 0x{a}: failed 0x{b} */
	WEFT_LOG_REBOOT       = 18, /* reboot asked for */
	WEFT_LOG_FLASH_ERROR  = 19, /* flash: status 0x{a} at 0x{b} */
	WEFT_LOG_FW_FLOOR     = 20, /* rollback floor {a}, asked for {b} */
	WEFT_LOG_CLEARED      = 21, /* memory of the client before cleared up to 0x{a} in 0x{b} cycles */
};

/* A part of card memory that a job may use. */
struct weft_msg_window {
	uint32_t base; /* first byte in card memory, a multiple of 64 */
	uint32_t size; /* bytes; 0 closes the window */
	uint32_t perm; /* enum weft_msg_perm */
};

/* One line of the log. */
struct weft_msg_log_entry {
	uint32_t index; /* counts from 0 since power */
	uint32_t time; /* timer_hi:timer_lo bits 41:10 when it happened */
	uint32_t code; /* enum weft_log */
	uint32_t a; /* first argument */
	uint32_t b; /* second argument */
};

/* Who uses the cards of a broker. */
struct weft_msg_client {
	uint32_t card; /* which of the broker's cards */
	uint32_t pid; /* process */
	uint32_t uid; /* whose */
	uint32_t state; /* 1: it has jobs that have not ended */
	uint32_t memory_kib; /* what it may have */
	uint32_t on_card_kib; /* what of it is on the card now */
	uint32_t jobs; /* that have ended */
	uint32_t cycles_lo; /* for which they kept the card busy */
	uint32_t cycles_hi; /* high half */
	uint32_t name[4]; /* of the program */
};

/* Messages to the card. All words are little-endian. */
/* Who is there? Must be the first message after a link reset: until it is answered WRITE and READ are refused. Another session than that of the HELLO before has jobs of that ended, card memory and the scratchpad cleared, and only then the answer. */
struct weft_msg_hello {
	uint32_t head;
	uint32_t protocol; /* major << 16 | minor of the host */
	uint32_t session; /* drawn at random when a client opens the card, the same until it closes it. May be left out, as protocol 1.1 does: 0 */
};

/* Echo. */
struct weft_msg_ping {
	uint32_t head;
	/* then data[]: up to 127 words */
};

/* Queue a job. Window 0 is the stream, read only; windows[i] is window i+1. All lie within host_base..host_limit. A job that is known already is not run again: the reply states where it is, and a DONE may come or have come. Replies come before the job's DONE. Job identities are the host's to choose, not 0, and not used twice within jobs_kept. */
struct weft_msg_submit {
	uint32_t head;
	uint32_t job; /* identity */
	uint32_t deadline_lo; /* cycles that it may run; 0 in both: no limit */
	uint32_t deadline_hi; /* high half */
	uint32_t stream_base; /* stream in card memory, a multiple of 64 */
	uint32_t stream_words; /* its 64-bit words, at least 1 */
	uint32_t n_windows; /* windows that follow */
	/* then windows[]: struct weft_msg_window */
};

/* How a job ended, or where it is. Comes by itself with seq 0 when a job ends, unless it was forgotten; as a message to the card it asks about a job. Before the end all words behind state are 0. */
struct weft_msg_done {
	uint32_t head;
	uint32_t job; /* identity */
};

/* End a job. Its DONE follows, also if it had ended before. */
struct weft_msg_cancel {
	uint32_t head;
	uint32_t job; /* identity */
};

/* End all jobs and forget all that are known; no DONE comes. */
struct weft_msg_abort_all {
	uint32_t head;
};

/* Counters since the core started. */
struct weft_msg_stats {
	uint32_t head;
};

/* Entries of the log from index on, oldest first; the ring keeps the youngest 128 and survives all resets but power. */
struct weft_msg_log_read {
	uint32_t head;
	uint32_t index; /* first wanted */
};

/* Registers of the NPU. */
struct weft_msg_reg_read {
	uint32_t head;
	uint32_t offset; /* first, a multiple of 4 */
	uint32_t n; /* how many */
};

/* Write a register of the NPU, while no job is there; not ctrl and irq_enable. Jobs set all that they need anew. */
struct weft_msg_reg_write {
	uint32_t head;
	uint32_t offset; /* a multiple of 4 */
	uint32_t value;
};

/* Test the card, while no job is there. */
struct weft_msg_self_test {
	uint32_t head;
	uint32_t mask; /* enum weft_msg_test */
};

/* Begin a firmware update into the slot that does not run; what it held is gone. */
struct weft_msg_fw_begin {
	uint32_t head;
	uint32_t bytes; /* header and image, a multiple of 4 */
};

/* The next part of the image, header first. The part before may come again; then it is not written twice. */
struct weft_msg_fw_data {
	uint32_t head;
	uint32_t offset; /* in the image, a multiple of fw_chunk */
	/* then data[]: fw_chunk bytes, fewer at the end */
};

/* All parts were sent: check header, version, checksum and signature as they are in the flash. */
struct weft_msg_fw_end {
	uint32_t head;
};

/* Start the checked image from the next reset on, on trial: the first HELLO that it answers confirms it, and after boot_tries starts without one the boot ROM goes back. */
struct weft_msg_fw_switch {
	uint32_t head;
};

/* Reset the chip when the reply is on its way. Jobs are lost. */
struct weft_msg_reboot {
	uint32_t head;
};

/* Check the image of a slot, and start it from the next reset on, on trial as after fw_switch. Not while an image is on trial, nor when flash.request_entries of these requests wait for a reset. */
struct weft_msg_fw_boot {
	uint32_t head;
	uint32_t slot; /* 0 or 1; also the one that runs */
};

/* Raise the rollback floor for ever, by the boot ROM at the next reset, if both images are then still good enough for it; until then fw_begin is refused. Not before a HELLO since the last start, not while an image is on trial, not unless the images of both slots are good, and not above the lower of their security versions. */
struct weft_msg_fw_floor {
	uint32_t head;
	uint32_t floor; /* at least what it is */
};

/* The client is done: its jobs end, what it wrote and what they may have written is cleared behind the answer, and so is the scratchpad. WRITE and READ are refused until the next HELLO. If a client goes without it, the next one waits until that is done. */
struct weft_msg_release {
	uint32_t head;
	uint32_t limit; /* first byte of card memory that the client has not written, nor any byte behind it; of use where the chip does not count that by itself (link_written) */
};

/* Who uses the card? A broker answers (docs/broker.md); a card does not know this type. */
struct weft_msg_clients {
	uint32_t head;
	uint32_t first; /* how many to leave out */
};

/* Replies. */
struct weft_msg_hello_reply {
	uint32_t head;
	uint32_t protocol; /* major << 16 | minor of the firmware */
	uint32_t fw_version; /* major << 16 | minor << 8 | patch */
	uint32_t fw_crc; /* image_crc of the running image */
	uint32_t chip_version; /* sys_version */
	uint32_t npu_version; /* the NPU's version register */
	uint32_t npu_config; /* its config register */
	uint32_t npu_features; /* its features register */
	uint32_t dram_bytes; /* card memory */
	uint32_t host_base; /* first byte that host and jobs may use */
	uint32_t host_limit; /* first byte behind it */
	uint32_t clock_khz; /* clock */
	uint32_t jobs_max; /* jobs in flight */
	uint32_t slot; /* slot that runs: 0 or 1; 2: rescue code in the boot ROM, which takes firmware updates and nothing else */
	uint32_t trial; /* 1: the image is on trial; this HELLO confirms it */
	uint32_t boot_count; /* starts since power */
	uint32_t reset_cause; /* enum weft_chip_cause */
	uint32_t boot_id; /* differs after every start of the core, also from one before power was off, and when memory was cleared for a new session: jobs of another boot_id are gone */
	uint32_t max_msg; /* bytes of the longest message */
	uint32_t serial[4]; /* of the board */
	uint32_t key_id; /* the first four bytes of the owner's public key, which the boot ROM holds. Protocol 1.0 ends before this word */
	uint32_t development; /* 1: that is the development key, whose private half everyone has: anybody's firmware runs on this card */
	uint32_t security_version; /* of the running image; 0 for the boot ROM's rescue code */
	uint32_t floor; /* lowest security version that the boot ROM starts */
};

struct weft_msg_ping_reply {
	uint32_t head;
	/* then data[]: the same */
};

struct weft_msg_submit_reply {
	uint32_t head;
	uint32_t job; /* identity */
	uint32_t state; /* enum weft_msg_state */
	uint32_t free; /* jobs that may still be submitted */
};

struct weft_msg_done_reply {
	uint32_t head;
	uint32_t job; /* identity */
	uint32_t state; /* enum weft_msg_state */
	uint32_t result; /* enum weft_msg_result */
	uint32_t fault; /* the NPU's fault register */
	uint32_t fault_cmd; /* its fault_cmd */
	uint32_t fault_tag; /* its fault_tag */
	uint32_t fault_info; /* its fault_info */
	uint32_t time_lo; /* cycles from start to end by the timer */
	uint32_t time_hi; /* high half */
	uint32_t counters[12]; /* the NPU's registers from cnt_cycles on */
	uint32_t retired[4]; /* the NPU's registers from retired_ld on */
};

struct weft_msg_cancel_reply {
	uint32_t head;
	uint32_t job; /* identity */
	uint32_t state; /* what it was: enum weft_msg_state */
};

struct weft_msg_abort_all_reply {
	uint32_t head;
	uint32_t n_ended; /* jobs that were queued or running */
};

struct weft_msg_stats_reply {
	uint32_t head;
	uint32_t time_lo; /* cycles since start */
	uint32_t time_hi; /* high half */
	uint32_t jobs_ok; /* jobs that reached END */
	uint32_t jobs_fault; /* that faulted */
	uint32_t jobs_deadline; /* stopped at their deadline */
	uint32_t jobs_cancelled; /* cancelled */
	uint32_t jobs_refused; /* SUBMITs refused */
	uint32_t npu_resets; /* resets of the NPU */
	uint32_t npu_hard_resets; /* of them through sys_control */
	uint32_t messages; /* messages taken */
	uint32_t messages_bad; /* of them answered with TYPE or LENGTH */
	uint32_t link_resets; /* of the link by the host */
	uint32_t frames_in; /* link_frames_in */
	uint32_t frames_out; /* link_frames_out */
	uint32_t header_errors; /* link_header_errors */
	uint32_t payload_errors; /* link_payload_errors */
	uint32_t refused; /* link_refused */
	uint32_t boot_count; /* starts since power */
	uint32_t watchdog_bites; /* of them by the watchdog */
	uint32_t traps; /* of them after a trap of the firmware */
	uint32_t log_next; /* index of the next log entry */
};

struct weft_msg_log_read_reply {
	uint32_t head;
	uint32_t next; /* index behind the last one that exists */
	/* then entries[]: struct weft_msg_log_entry, up to log_max */
};

struct weft_msg_reg_read_reply {
	uint32_t head;
	/* then values[]: n values */
};

struct weft_msg_reg_write_reply {
	uint32_t head;
};

struct weft_msg_self_test_reply {
	uint32_t head;
	uint32_t ran; /* tests that ran */
	uint32_t failed; /* of them that failed */
	uint32_t where; /* address or register of the first failure */
	uint32_t expected;
	uint32_t got;
};

struct weft_msg_fw_begin_reply {
	uint32_t head;
	uint32_t slot; /* that is written */
};

struct weft_msg_fw_data_reply {
	uint32_t head;
	uint32_t next; /* offset wanted next */
};

struct weft_msg_fw_end_reply {
	uint32_t head;
	uint32_t fw_version; /* of the image */
	uint32_t image_crc; /* of the image */
};

struct weft_msg_fw_switch_reply {
	uint32_t head;
	uint32_t slot; /* that will be started */
};

struct weft_msg_reboot_reply {
	uint32_t head;
};

struct weft_msg_fw_boot_reply {
	uint32_t head;
	uint32_t slot; /* that will be started */
};

struct weft_msg_fw_floor_reply {
	uint32_t head;
	uint32_t floor; /* what it will be */
};

struct weft_msg_release_reply {
	uint32_t head;
};

struct weft_msg_clients_reply {
	uint32_t head;
	uint32_t count; /* clients of the broker */
	/* then entries[]: struct weft_msg_client, up to clients_max */
};

/* Names and texts; not in the firmware. NULL where there is none. */
WEFT_API const char *weft_msg_type_name(unsigned type);
WEFT_API const char *weft_msg_error_name(unsigned code);
WEFT_API const char *weft_msg_error_text(unsigned code);
WEFT_API const char *weft_msg_result_text(unsigned result);
WEFT_API const char *weft_frame_status_text(unsigned status);
WEFT_API const char *weft_usb_request_name(unsigned request);
WEFT_API const char *weft_chip_cause_text(unsigned cause);
/** A format for printf that takes a and b, both unsigned. */
WEFT_API const char *weft_log_format(unsigned code);

/* USB descriptors, as the device answers. Strings: 1 manufacturer, 2 product, 3 serial. */
enum weft_usb_descriptor {
	WEFT_USB_DESCRIPTOR_DEVICE      = 0,
	WEFT_USB_DESCRIPTOR_CONFIG      = 1,
	WEFT_USB_DESCRIPTOR_BOS         = 2,
	WEFT_USB_DESCRIPTOR_MSOS20      = 3,
	WEFT_USB_DESCRIPTOR_CONFIG_FULL = 4,
	WEFT_USB_DESCRIPTOR_QUALIFIER   = 5,
};

/**
 * The bytes of a descriptor.
 *
 * @param which           enum weft_usb_descriptor
 * @param[out] len_bytes  How many there are; 0 with NULL.
 *
 * @return constant memory; NULL: there is no such descriptor. Thread-safe.
 */
WEFT_API const uint8_t *weft_usb_descriptor(unsigned which, size_t *len_bytes);

#ifdef __cplusplus
}
#endif
#endif
