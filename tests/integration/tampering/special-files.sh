# Try: pipes and sockets, and files that nobody may read
# Work: gold
# Seen: edits.skipped: tempo/pipe
# Seen: edits.observed: secret.txt
mkfifo tempo/pipe js/src/pipe
python3 -c 'import socket; socket.socket(socket.AF_UNIX).bind("socket")'
echo x > secret.txt
mkdir closed
echo x > closed/inside
chmod 000 secret.txt closed tempo/notation.py
chmod 500 js
