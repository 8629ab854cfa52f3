"""What the guarantees of all applications take for granted about the preparation of the data and about who sees a run."""

from __future__ import annotations

#: A table that was made from all users together, as by a matrix product or by leaving out rare items, is not a table of users.
OWN_ENTRY = (
    "what stands for a user (or record) in the data was made from that user's own record and public constants alone, to the last bit: not "
    "from other users, how many they are, or their order"
)
ONLY_OUTPUT = "nothing but the output is seen of a run: neither the sample nor its size, nor the running time"
#: Open where reports appear one after the other as records come; discharged where a clock, or the end of a run, says when they do.
MOMENT = (
    "nobody who sees the reports sees when a report appears, how many have appeared so far, or how long none did: a report appears when a "
    "record of a later time comes"
)
