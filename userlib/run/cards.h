/* SPDX-License-Identifier: Apache-2.0 */
/* Sessions over several cards: one session on each card below the one that the caller has. */
#ifndef WEFT_RUN_CARDS_H
#define WEFT_RUN_CARDS_H

#include <weft/cards.h>

#include "userlib/run/internal.h"

/** Returns the threads of the cards. */
struct weft_crew *weft_cards_crew(weft_cards *cards);

/** Says whether a session with these options runs over several cards. */
bool weft_over_cards(const struct weft_session_options *o);

/**
 * Open the cards of a session that has its program, or take the caller's, and a session on each of them.
 * @return 0, or a negative errno with one line in msg; weft_session_cards_free() in each case
 */
int weft_session_cards_open(weft_session *s, char *msg);

/** Close the sessions on the cards, and the cards if they are the session's own. */
void weft_session_cards_free(weft_session *s);

#endif
