# Try: a directory of the product becomes a submodule
# Work: gold
# Seen: edits.observed: .gitmodules
# Seen: edits.skipped: js/src/.git
git init -q js/src
git -C js/src add -A
git -C js/src commit -qm inner
git rm -rq --cached js/src
git -c protocol.file.allow=always submodule add -q ./js/src js/src 2>/dev/null
printf '[submodule "js/src"]\n\tpath = js/src\n\turl = ./js/src\n' > .gitmodules
true
