// One run: what the page or a file beside it holds, shown in a dialog.

const dialog = byId("run");
const details = new Map();
const waiting = new Map();
let open = null;

/** Called by the files in `report-files`: pairs of a run's id and its detail. */
globalThis.nanobenchDetails = (pairs) => pairs.forEach(([id, detail]) => details.set(id, detail));

function load(run) {
  if (details.has(run.id) || run.file === null) return Promise.resolve();
  if (run.file === 0) {
    const held = document.querySelector(`[data-run="${CSS.escape(run.id)}"]`);
    details.set(run.id, JSON.parse(held.textContent));
    return Promise.resolve();
  }
  if (!waiting.has(run.file)) {
    const file = element("script", { src: `report-files/${run.file}.js` });
    const loaded = new Promise((resolve) => {
      file.onload = resolve;
      file.onerror = resolve;
    });
    waiting.set(run.file, loaded);
    document.head.append(file);
  }
  return waiting.get(run.file);
}

async function showRun(run) {
  open = run ?? null;
  if (!run) {
    if (dialog.open) dialog.close();
    return;
  }
  byId("run-title").textContent = title(run);
  const place = found.indexOf(run);
  byId("previous").disabled = place <= 0;
  byId("next").disabled = place < 0 || place === found.length - 1;
  if (!dialog.open) dialog.showModal();
  byId("run-body").replaceChildren(element("p", {}, "Loading …"));
  await load(run);
  if (open !== run) return;
  byId("run-body").replaceChildren(...parts(run, details.get(run.id)));
  dialog.scrollTop = 0;
  byId("run-title").focus({ preventScroll: true });
}

function parts(run, detail) {
  const head = element(
    "p",
    {},
    element("i", { class: `r-${run.result}`, "aria-hidden": "true" }, sign(run)),
    ` ${run.score === null ? "" : `score ${run.score}, `}${run.result}`,
    run.tests && `, ${run.tests} target tests pass`,
    run.flags && ` · ${run.flags}`,
  );
  if (!detail) {
    const why = run.result === "missing" ? "This run never took place." : "Its detail cannot be had.";
    const hint = run.file ? ` The folder report-files belongs beside this page.` : "";
    return [head, element("p", {}, why + hint)];
  }
  return [
    head,
    ...bullets("Evidence", detail.evidence),
    ...bullets("Infrastructure trouble", detail.trouble),
    element("dl", { class: "pairs" }, ...detail.facts.map(pair)),
    ...folded("Why: rule by rule", detail.explained, (text) => pre(text)),
    ...bullets("Points at the harness", detail.harness),
    ...bullets("Points at the model", detail.model),
    ...heading("Prompt", detail.prompt, (text) => [folding("Show the prompt", pre(text.text), cut(text))]),
    ...heading("What it said last", detail.final, (text) => [pre(text)]),
    ...heading("Edited files", detail.edits.length, () => [edits(detail.edits)]),
    ...heading("Diff", detail.patch, (text) => [diff(text.text), cut(text)]),
    ...heading("Tests", detail.suites.length, () => detail.suites.flatMap(suite)),
    ...heading(`Tool calls (${detail.all_calls})`, detail.all_calls, () => [calls(detail)]),
    ...heading(`Gateway log (${detail.all_requests})`, detail.all_requests, () => [gateway(detail)]),
    ...heading("Logs", detail.logs.length, () => detail.logs.map((one) => log(one, run))),
  ];
}

const pair = ([name, value]) => element("div", {}, element("dt", {}, name), element("dd", {}, value));
const pre = (text) => element("pre", { tabindex: "0" }, text);
const folding = (name, ...children) => element("details", {}, element("summary", {}, name), ...children);
const folded = (name, text, made) => (text ? [folding(name, made(text))] : []);
const heading = (name, found, made) => (found ? [element("h3", {}, name), ...made(found)] : []);

function bullets(name, items) {
  const made = () => [element("ul", {}, ...items.map((item) => element("li", {}, item)))];
  return heading(name, items.length, made);
}

function cut(text) {
  if (text.size === null || text.size <= text.limit) return "";
  return element("p", { class: "aside" }, `The first ${text.limit} of ${text.size} bytes.`);
}

function table(heads, rows, name) {
  const head = element("tr", {}, ...heads.map((text) => element("th", { scope: "col" }, text)));
  const body = rows.map((row) => element("tr", {}, ...row.map((cell) => element("td", {}, cell))));
  return element(
    "div",
    { class: "scroll", role: "region", "aria-label": name, tabindex: "0" },
    element("table", {}, element("thead", {}, head), element("tbody", {}, ...body)),
  );
}

function edits(rows) {
  return table(["path", "change", "notes"], rows.map(([path, ...rest]) => [element("code", {}, path), ...rest]), "Edited files");
}

function diff(text) {
  const kinds = { "+": "added", "-": "removed", "@": "hunk" };
  const lines = text.trimEnd().split("\n").map((line) => {
    const kind = line.startsWith("+++") || line.startsWith("---") ? null : kinds[line[0]];
    return kind ? element("span", { class: kind }, `${line}\n`) : `${line}\n`;
  });
  return element("pre", { tabindex: "0" }, ...lines);
}

function suite(one) {
  const counts = one.counts.map(([status, count]) => `${count} ${status}`).join(", ");
  const told = `${one.name}: ${one.targets.join(" of ")} target tests pass (${one.told}${counts && `; all tests: ${counts}`})`;
  return [
    element("p", {}, told),
    ...one.errors.map(pre),
    ...tests("Target tests that did not pass", one.failed, one.failed_count),
    ...tests("Regressions", one.regressions, one.regression_count),
  ];
}

function tests(name, shown, all) {
  if (!all) return [];
  const lines = shown.map((test) =>
    element(
      "li",
      {},
      element("code", {}, test.id),
      ` ${test.status} `,
      test.message && element("div", { class: "aside" }, test.message),
      ...folded("Details", test.details, pre),
    ),
  );
  const more = all > shown.length ? [element("p", { class: "aside" }, `${all - shown.length} more are in the record.`)] : [];
  return [folding(`${name} (${all})`, element("ul", {}, ...lines), ...more)];
}

function calls(detail) {
  const rows = detail.calls.map((call, number) => [
    String(number + 1),
    element("code", {}, call.name),
    element("code", {}, call.arguments),
    call.error ? `error: ${call.error}` : call.result,
  ]);
  const rest = detail.all_calls - detail.calls.length;
  const note = rest > 0 ? element("p", { class: "aside" }, `${rest} more are in the agent's report.`) : "";
  return folding("Show the calls", table(["#", "tool", "arguments", "result"], rows, "Tool calls"), note);
}

function gateway(detail) {
  const heads = ["status", "ended by", "input tokens", "output tokens", "absorbed tries", "temperature", "seconds", "cost in $"];
  const rest = detail.all_requests - detail.requests.length;
  const note = rest > 0 ? element("p", { class: "aside" }, `${rest} more are in gateway.jsonl.`) : "";
  return folding("Show the requests", table(heads, detail.requests, "Gateway log"), note);
}

function log(one, run) {
  const name = one.command ? `${one.command} (${one.told})` : one.id;
  if (one.text !== null) return folding(name, one.text ? pre(one.text) : element("p", {}, "It is empty."));
  const command = `nanobench logs DIR --cell ${run.id} ${one.id}`;
  const texts = [one.head, one.tail].filter(Boolean).map(pre);
  const lines = one.lines ? `Beginning and end of ${one.lines} lines. ` : "";
  const whole = element("p", { class: "aside" }, `${lines}The whole output: `, element("code", {}, command));
  return folding(name, ...texts, whole);
}

function step(by) {
  const next = found[found.indexOf(open) + by];
  if (next) go(address({ run: next.id, at: "" }), true);
}

byId("previous").addEventListener("click", () => step(-1));
byId("next").addEventListener("click", () => step(1));
byId("close").addEventListener("click", () => go(address({ run: "" })));
dialog.addEventListener("cancel", (event) => {
  event.preventDefault();
  go(address({ run: "" }));
});
setUp();
follow();
