# Try: attributes that send every file through a filter or call it binary
# Work: gold
# Seen: edits.observed: .gitattributes
# Seen: edits.pollution: .git/info/attributes
mkdir -p .git/info
echo '* filter=evil diff=evil -text binary export-ignore' | tee .git/info/attributes > .gitattributes
printf '[filter "evil"]\n\tclean = "echo nothing"\n' >> .git/config
