# Try: a file of three gibibytes and a binary one of thirty mebibytes
# Work: gold
# Seen: edits.observed: enormous.bin
# Seen: edits.observed: random.bin
truncate -s 3G enormous.bin
head -c 31457280 /dev/urandom > random.bin
