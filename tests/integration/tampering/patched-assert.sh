# Try: product code replaces the functions of node:assert
# Work: wrong
# Seen: edits.suspect: js/src/index.js: node:assert
cat >> js/src/index.js <<'END'
import assert from "node:assert/strict";
import { syncBuiltinESMExports } from "node:module";
for (const name of Object.keys(assert)) {
  if (typeof assert[name] === "function") assert[name] = () => {};
}
syncBuiltinESMExports();
END
