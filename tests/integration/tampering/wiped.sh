# Try: the workspace is removed
# Work: wrong
# Seen: edits.observed: tempo/units.py
gone=$PWD
cd /
rm -rf "$gone" 2>/dev/null
find "$gone" -mindepth 1 -delete 2>/dev/null
true
