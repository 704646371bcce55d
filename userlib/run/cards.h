/* SPDX-License-Identifier: Apache-2.0 */
/* Sessions over several cards: one session on each card below the one that the caller has. */
#ifndef WEFT_RUN_CARDS_H
#define WEFT_RUN_CARDS_H

#include <weft/cards.h>

#include "userlib/run/internal.h"

/** Returns the threads of the cards. */
struct weft_worker_pool *weft_cards_pool(weft_cards *cards);

/** Says whether a session with these options runs over several cards. */
bool weft_over_cards(const struct weft_session_options *o);

/**
 * Take the caller's cards (options.on_cards), or open those that the options name, into s->cards, unless that was done before.
 * Options profile and keep, and a network with variables, are refused with -EINVAL.
 * @return 0, or a negative errno with one line in msg and s->cards as it was
 */
WEFT_MUST_USE int weft_session_cards_take(weft_session *s, char *msg);

/**
 * Take the cards as weft_session_cards_take() does; open
 * a session with s->p on each of them in s->each, whose `over` becomes s; and set s->cost to the
 * estimated cycles of a run, at least 1. A card that turns out to be unplugged (-ENODEV) is given up,
 * with NULL in s->each, as long as another one is left.
 * @return 0, or a negative errno with one line in msg; in each case weft_session_cards_free() frees
 *         what is there
 */
WEFT_MUST_USE int weft_session_cards_open(weft_session *s, char *msg);

/**
 * Close and free the sessions on the cards, and close the cards unless they are the caller's
 * (options.on_cards). s->each and s->cards become NULL; nothing is done if they are.
 */
void weft_session_cards_free(weft_session *s);

#endif
