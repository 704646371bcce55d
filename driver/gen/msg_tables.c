/* Generated from include/spec/msg.toml by tools/gen.py; edit that and run `make gen`. */
/* SPDX-License-Identifier: Apache-2.0 */
#include <weft/gen/msg.h>

const char *weft_msg_type_name(unsigned v)
{
	switch (v) {
	case 1:
		return "hello";
	case 2:
		return "ping";
	case 3:
		return "submit";
	case 4:
		return "done";
	case 5:
		return "cancel";
	case 6:
		return "abort_all";
	case 7:
		return "stats";
	case 8:
		return "log_read";
	case 9:
		return "reg_read";
	case 10:
		return "reg_write";
	case 11:
		return "self_test";
	case 12:
		return "fw_begin";
	case 13:
		return "fw_data";
	case 14:
		return "fw_end";
	case 15:
		return "fw_switch";
	case 16:
		return "reboot";
	case 17:
		return "fw_boot";
	case 18:
		return "fw_floor";
	case 20:
		return "release";
	case 19:
		return "clients";
	}
	return NULL;
}

const char *weft_msg_error_name(unsigned v)
{
	switch (v) {
	case 0:
		return "OK";
	case 1:
		return "TYPE";
	case 2:
		return "LENGTH";
	case 3:
		return "VERSION";
	case 4:
		return "BUSY";
	case 5:
		return "QUEUE_FULL";
	case 6:
		return "NO_JOB";
	case 7:
		return "JOB_ID";
	case 8:
		return "WINDOW";
	case 9:
		return "ALIGN";
	case 10:
		return "STREAM";
	case 11:
		return "PERM";
	case 12:
		return "OVERLAP";
	case 13:
		return "REG";
	case 14:
		return "NPU_DEAD";
	case 15:
		return "FLASH";
	case 16:
		return "FW_STATE";
	case 17:
		return "FW_RANGE";
	case 18:
		return "FW_HEADER";
	case 19:
		return "FW_CRC";
	case 20:
		return "FW_VERSION";
	case 21:
		return "SELF_TEST";
	case 22:
		return "ARGUMENT";
	case 23:
		return "FW_KEY";
	case 24:
		return "FW_SIGNATURE";
	case 25:
		return "FW_ROLLBACK";
	case 26:
		return "FW_ENDED";
	case 27:
		return "DENIED";
	}
	return NULL;
}

const char *weft_msg_error_text(unsigned v)
{
	switch (v) {
	case 0:
		return "done";
	case 1:
		return "unknown message type";
	case 2:
		return "message has a wrong length";
	case 3:
		return "protocol of another major version";
	case 4:
		return "not while a job runs or waits";
	case 5:
		return "eight jobs are waiting; wait for one";
	case 6:
		return "no such job is known";
	case 7:
		return "job identity 0 is not allowed";
	case 8:
		return "a window lies outside the memory that jobs may use";
	case 9:
		return "a window's or the stream's base is no multiple of 64";
	case 10:
		return "the stream is empty or too long";
	case 11:
		return "a window's permissions are none, or unknown bits";
	case 12:
		return "a window that may be written overlaps another of the job, or its stream";
	case 13:
		return "no register there, or it may not be written";
	case 14:
		return "the NPU does not answer; reset the card";
	case 15:
		return "the flash did not take it";
	case 16:
		return "no firmware update is under way, or not at this step";
	case 17:
		return "firmware image: size or offset out of range";
	case 18:
		return "firmware image: header is broken";
	case 19:
		return "firmware image: contents do not match their checksum";
	case 20:
		return "firmware image: for another chip or protocol";
	case 21:
		return "self-test failed";
	case 22:
		return "an argument is out of range";
	case 23:
		return "firmware image: signed with a key that is not this card's, or not at all";
	case 24:
		return "firmware image: its signature is wrong";
	case 25:
		return "firmware image: its security version is below the card's floor";
	case 26:
		return "firmware image: its starts ended by watchdog or trap too often, with no job done";
	case 27:
		return "not for this client: a broker has the card, and only its administrators may";
	}
	return NULL;
}

const char *weft_msg_result_text(unsigned v)
{
	switch (v) {
	case 0:
		return "reached END";
	case 1:
		return "the NPU latched a fault";
	case 2:
		return "took longer than its deadline; stopped";
	case 3:
		return "cancelled";
	case 4:
		return "stopped, and the NPU had to be reset the hard way";
	}
	return NULL;
}

const char *weft_frame_status_text(unsigned v)
{
	switch (v) {
	case 0:
		return "done";
	case 1:
		return "payload CRC is wrong; send it again";
	case 2:
		return "outside the card memory that the host may use";
	case 3:
		return "unknown type or bad length";
	case 4:
		return "broken header; reset the link";
	}
	return NULL;
}

const char *weft_usb_request_name(unsigned v)
{
	switch (v) {
	case 1:
		return "LINK_RESET";
	case 2:
		return "CHIP_RESET";
	case 3:
		return "GET_STATUS";
	}
	return NULL;
}

const char *weft_chip_cause_text(unsigned v)
{
	switch (v) {
	case 0:
		return "power was applied";
	case 1:
		return "the watchdog bit";
	case 2:
		return "sys_reset";
	case 3:
		return "the host asked for it over USB";
	}
	return NULL;
}

const char *weft_log_format(unsigned v)
{
	switch (v) {
	case 1:
		return "start %2$u since power, cause %1$u";
	case 2:
		return "running slot %1$u, version 0x%2$x";
	case 3:
		return "slot %1$u refused by the boot ROM: error %2$u";
	case 4:
		return "image in slot %1$u confirmed";
	case 5:
		return "trap 0x%1$x at 0x%2$x";
	case 6:
		return "mtval 0x%1$x, ra 0x%2$x";
	case 7:
		return "watchdog about to bite at 0x%1$x, ra 0x%2$x";
	case 8:
		return "job %1$u: fault 0x%2$x";
	case 9:
		return "job %1$u: stopped, result %2$u";
	case 10:
		return "job %1$u: refused, error %2$u";
	case 11:
		return "NPU reset by force, answers: %1$u";
	case 12:
		return "link reset";
	case 13:
		return "message type %1$u, %2$u bytes, refused";
	case 14:
		return "firmware update into slot %1$u, %2$u bytes";
	case 15:
		return "image in slot %1$u checked: error %2$u";
	case 16:
		return "slot %1$u is next, record %2$u";
	case 17:
		return "self-test 0x%1$x: failed 0x%2$x";
	case 18:
		return "reboot asked for";
	case 19:
		return "flash: status 0x%1$x at 0x%2$x";
	case 20:
		return "rollback floor %1$u, asked for %2$u";
	case 21:
		return "memory of the client before cleared up to 0x%1$x in 0x%2$x cycles";
	}
	return NULL;
}

static const uint8_t usb_device[18] = {
	0x12, 0x01, 0x10, 0x02, 0x00, 0x00, 0x00, 0x40, 0x09, 0x12, 0x01, 0x00,
	0x00, 0x01, 0x01, 0x02, 0x03, 0x01,
};

static const uint8_t usb_config[32] = {
	0x09, 0x02, 0x20, 0x00, 0x01, 0x01, 0x00, 0x80, 0xfa, 0x09, 0x04, 0x00,
	0x00, 0x02, 0xff, 0x57, 0x01, 0x00, 0x07, 0x05, 0x01, 0x02, 0x00, 0x02,
	0x00, 0x07, 0x05, 0x81, 0x02, 0x00, 0x02, 0x00,
};

static const uint8_t usb_bos[33] = {
	0x05, 0x0f, 0x21, 0x00, 0x01, 0x1c, 0x10, 0x05, 0x00, 0xdf, 0x60, 0xdd,
	0xd8, 0x89, 0x45, 0xc7, 0x4c, 0x9c, 0xd2, 0x65, 0x9d, 0x9e, 0x64, 0x8a,
	0x9f, 0x00, 0x00, 0x03, 0x06, 0xa2, 0x00, 0x4d, 0x00,
};

static const uint8_t usb_msos20[162] = {
	0x0a, 0x00, 0x00, 0x00, 0x00, 0x00, 0x03, 0x06, 0xa2, 0x00, 0x14, 0x00,
	0x03, 0x00, 0x57, 0x49, 0x4e, 0x55, 0x53, 0x42, 0x00, 0x00, 0x00, 0x00,
	0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x84, 0x00, 0x04, 0x00, 0x07, 0x00,
	0x2a, 0x00, 0x44, 0x00, 0x65, 0x00, 0x76, 0x00, 0x69, 0x00, 0x63, 0x00,
	0x65, 0x00, 0x49, 0x00, 0x6e, 0x00, 0x74, 0x00, 0x65, 0x00, 0x72, 0x00,
	0x66, 0x00, 0x61, 0x00, 0x63, 0x00, 0x65, 0x00, 0x47, 0x00, 0x55, 0x00,
	0x49, 0x00, 0x44, 0x00, 0x73, 0x00, 0x00, 0x00, 0x50, 0x00, 0x7b, 0x00,
	0x36, 0x00, 0x66, 0x00, 0x30, 0x00, 0x66, 0x00, 0x30, 0x00, 0x63, 0x00,
	0x35, 0x00, 0x65, 0x00, 0x2d, 0x00, 0x33, 0x00, 0x63, 0x00, 0x30, 0x00,
	0x62, 0x00, 0x2d, 0x00, 0x34, 0x00, 0x63, 0x00, 0x33, 0x00, 0x62, 0x00,
	0x2d, 0x00, 0x39, 0x00, 0x64, 0x00, 0x30, 0x00, 0x65, 0x00, 0x2d, 0x00,
	0x37, 0x00, 0x37, 0x00, 0x36, 0x00, 0x35, 0x00, 0x36, 0x00, 0x36, 0x00,
	0x37, 0x00, 0x34, 0x00, 0x63, 0x00, 0x30, 0x00, 0x64, 0x00, 0x65, 0x00,
	0x7d, 0x00, 0x00, 0x00, 0x00, 0x00,
};

static const uint8_t usb_config_full[32] = {
	0x09, 0x02, 0x20, 0x00, 0x01, 0x01, 0x00, 0x80, 0xfa, 0x09, 0x04, 0x00,
	0x00, 0x02, 0xff, 0x57, 0x01, 0x00, 0x07, 0x05, 0x01, 0x02, 0x40, 0x00,
	0x00, 0x07, 0x05, 0x81, 0x02, 0x40, 0x00, 0x00,
};

static const uint8_t usb_qualifier[10] = {
	0x0a, 0x06, 0x10, 0x02, 0x00, 0x00, 0x00, 0x40, 0x01, 0x00,
};

const uint8_t *weft_usb_descriptor(unsigned which, size_t *len_bytes)
{
	static const struct { const uint8_t *data; size_t len_bytes; } all[] = {
		{ usb_device, sizeof(usb_device) },
		{ usb_config, sizeof(usb_config) },
		{ usb_bos, sizeof(usb_bos) },
		{ usb_msos20, sizeof(usb_msos20) },
		{ usb_config_full, sizeof(usb_config_full) },
		{ usb_qualifier, sizeof(usb_qualifier) },
	};

	if (which >= sizeof(all) / sizeof(*all)) {
		*len_bytes = 0;
		return NULL;
	}
	*len_bytes = all[which].len_bytes;
	return all[which].data;
}
