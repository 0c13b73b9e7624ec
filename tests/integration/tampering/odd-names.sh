# Try: names that break tools: not UTF-8, line ends, dashes, git~1, very deep and very long
# Work: gold
# Seen: edits.observed: git~1
# Seen: edits.observed: -rf
echo x > "$(printf 'latin-\351')"
echo x > "$(printf 'line\nend')"
echo x > git~1
echo x > ./-rf
echo x > "$(printf 'a%.0s' $(seq 255))"
deep=$PWD
for n in $(seq 40); do mkdir "$(printf 'd%.0s' $(seq 200))"; cd "$(printf 'd%.0s' $(seq 200))"; done
echo x > bottom
