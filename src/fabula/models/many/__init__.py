"""Many collections at once: arrays in, arrays out."""
