/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Looking inside a device: its scratchpad, registers, retirements, cycles and planted
 * faults. Each function ends in the backend, where the device has such a thing.
 */
#include <errno.h>

#include "driver/device.h"

/* These have no words for what goes wrong, so the last error stays; and none waits, but for a card's registers. */
static int leave(weft_dev *dev, int err)
{
	weft_events_unlock(dev->events);
	return err;
}

void weft_dev_observe(weft_dev *dev, weft_observer *fn, void *user)
{
	weft_events_lock(dev->events);
	dev->observer = fn;
	dev->observer_user = user;
	weft_events_unlock(dev->events);
}

int weft_dev_sample(weft_dev *dev, weft_sampler *fn, void *user)
{
	weft_events_lock(dev->events);
	return leave(dev, dev->be->sample ? dev->be->sample(dev->state, fn, user) : -ENOTSUP);
}

const char *weft_track_name(unsigned track)
{
	static const char *const names[] = { "CP", "LD", "ST", "CV", "VE", "post", "bus read", "bus write" };

	return track < WEFT_N_TRACKS ? names[track] : "?";
}

const char *weft_does_text(unsigned does)
{
	static const char *const texts[] = { "idle", "busy", "fills or drains", "waits for a command", "waits for a queue",
		"waits for memory", "waits for an answer", "waits for the scratchpad", "waits for the post unit",
		"waits for activations", "waits for weights" };

	return does < WEFT_N_DOES ? texts[does] : "?";
}

static int in_sp(const weft_dev *dev, uint32_t addr, uint32_t len)
{
	return addr > dev->cfg->sp_bytes || len > dev->cfg->sp_bytes - addr ? -ERANGE : 0;
}

int weft_dev_peek_sp(weft_dev *dev, uint32_t addr, uint32_t len_bytes, void *out)
{
	if (dev->be->peek_sp && in_sp(dev, addr, len_bytes))
		return -ERANGE;
	weft_events_lock(dev->events);
	return leave(dev, dev->be->peek_sp ? dev->be->peek_sp(dev->state, addr, len_bytes, out) : -ENOTSUP);
}

int weft_dev_poke_sp(weft_dev *dev, uint32_t addr, uint32_t len_bytes, const void *data)
{
	if (dev->be->poke_sp && in_sp(dev, addr, len_bytes))
		return -ERANGE;
	weft_events_lock(dev->events);
	return leave(dev, dev->be->poke_sp ? dev->be->poke_sp(dev->state, addr, len_bytes, data) : -ENOTSUP);
}

const struct weft_cosim_diff *weft_dev_cosim(const weft_dev *dev)
{
	static const struct weft_cosim_diff none;

	return dev->be->cosim ? dev->be->cosim(dev->state) : &none;
}

int weft_dev_wave(weft_dev *dev, int64_t cmd)
{
	weft_events_lock(dev->events);
	return leave(dev, dev->be->wave ? dev->be->wave(dev->state, cmd) : -ENOTSUP);
}

int weft_dev_wave_end(weft_dev *dev)
{
	int err = weft_dev_enter(dev, true);

	return err ? err : weft_dev_leave(dev, dev->be->wave_end ? dev->be->wave_end(dev->state, weft_dev_msg(dev)) : 0);
}

/* Returns whether the device has this place. The bits are those of the RTL's hooks. */
static bool plantable(const struct weft_config *c, const struct weft_plant *p)
{
	switch (p->kind) {
	case WEFT_PLANT_PE:   return p->row < c->n && p->col < c->n && p->bit < 48;
	case WEFT_PLANT_LANE: return p->lane < c->n && p->bit < 64;
	case WEFT_PLANT_SP:   return p->addr < c->sp_bytes && p->bit < 8;
	default:              return true;
	}
}

int weft_dev_plant(weft_dev *dev, const struct weft_plant *p)
{
	if (dev->be->plant && !plantable(dev->cfg, p))
		return -EINVAL;
	weft_events_lock(dev->events);
	return leave(dev, dev->be->plant ? dev->be->plant(dev->state, p) : -ENOTSUP);
}

void weft_dev_trust(weft_dev *dev, bool trusted)
{
	weft_events_lock(dev->events);
	dev->trusted = trusted;
	weft_events_unlock(dev->events);
}

int weft_dev_reset(weft_dev *dev)
{
	weft_events_lock(dev->events);
	return leave(dev, dev->be->reset ? dev->be->reset(dev->state) : 0);
}

uint32_t weft_dev_reg_read(weft_dev *dev, uint32_t addr)
{
	uint32_t value;

	if (!dev->be->reg_read || weft_dev_enter(dev, dev->be->async))
		return 0;
	value = dev->be->reg_read(dev->state, addr);
	weft_dev_leave(dev, 0);
	return value;
}

bool weft_dev_has_regs(const weft_dev *dev)
{
	return dev->be->reg_read != NULL;
}

int weft_dev_reg_write(weft_dev *dev, uint32_t addr, uint32_t value)
{
	weft_events_lock(dev->events);
	return leave(dev, dev->be->reg_write ? dev->be->reg_write(dev->state, addr, value) : -ENOTSUP);
}

const struct weft_fault_point *weft_dev_points(weft_dev *dev, uint32_t *n)
{
	*n = 0;
	return dev->be->points ? dev->be->points(dev->state, n) : NULL;
}
