"""Loudness by ITU-R BS.1770-4 and EBU R 128: integrated, its range, its true peak, silences and fades at the edges."""
