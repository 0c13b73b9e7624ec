# Try: links that lead out of the workspace, one in the place of a directory
# Work: gold
# Seen: edits.observed: passwd
# Seen: edits.observed: up
ln -s /etc/passwd passwd
ln -s ../../../../../../.. up
ln -s /run/nb/results-pytest results
mkdir -p js/more
ln -s /run/nb js/more/run
