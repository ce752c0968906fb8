-- Long texts have many trigrams, for which the planner expects more of the index than of a table of some ten thousand rows:
-- the search for names is kept from reading that.

alter function find_named_devices(uuid[], uuid[], uuid[], text, integer) set enable_seqscan = off;
