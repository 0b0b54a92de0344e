import fc from "fast-check";
import { deepEqual, equal, match, ok } from "node:assert/strict";
import { test } from "node:test";
import { rounds, testSeed } from "../testing/rounds.ts";
import { createLogger, formatHuman, formatJson, silentLogger, type LogFields, type LogLevel, type LogLine } from "./logger.ts";

const settings = { seed: testSeed(), numRuns: rounds({ quick: 50, full: 5_000 }) };

function aLogger({ level = "debug", fields }: { readonly level?: LogLevel; readonly fields?: LogFields } = {}) {
  const lines: LogLine[] = [];
  const log = createLogger({ sink: (line) => lines.push(line), clock: { now: () => 0 }, level, ...(fields && { fields }) });
  return { log, lines, texts: () => lines.map(formatHuman) };
}

function aLine(fields: LogFields, sentence = "Scaling"): LogLine {
  const { log, lines } = aLogger();
  log.info(sentence, fields);
  return lines[0] as LogLine;
}

test("a log line carries timestamp, level, message and fields", () => {
  const { log, lines } = aLogger();
  log.warn("Cannot reach the node", { node: "n1", attempts: 3 });
  deepEqual(lines, [{ timeMs: 0, level: "warn", sentence: "Cannot reach the node", fields: { node: "n1", attempts: 3 } }]);
});

for (const { level, writes } of [
  { level: "debug", writes: ["debug", "info", "warn", "error"] },
  { level: "info", writes: ["info", "warn", "error"] },
  { level: "warn", writes: ["warn", "error"] },
  { level: "error", writes: ["error"] },
] as const) {
  test(`at level ${level} the logger writes ${writes.join(", ")}`, () => {
    const { log, lines } = aLogger({ level });
    for (const name of ["debug", "info", "warn", "error"] as const) log[name]("Said");
    deepEqual(
      lines.map((line) => line.level),
      writes,
    );
  });
}

test("fields of a suppressed line are not evaluated", () => {
  const { log } = aLogger({ level: "error" });
  let looks = 0;
  const fields = {
    get dear() {
      return looks++;
    },
  };
  log.info("Not written", fields);
  equal(looks, 0);
});

test("a child logger's fields are on every line; fields of the call override them", () => {
  const { log, texts } = aLogger({ fields: { part: "scheduler" } });
  const child = log.with({ pod: "default/web" });
  log.info("Started");
  child.info("Bound", { node: "n1" });
  child.info("Moved", { pod: "default/db" });

  deepEqual(
    texts().map((text) => text.slice("1970-01-01T00:00:00.000Z INFO  ".length)),
    ["Started part=scheduler", "Bound part=scheduler pod=default/web node=n1", "Moved part=scheduler pod=default/db"],
  );
});

test("a long field of a logger is truncated once, not again by every child", () => {
  const { log, lines } = aLogger({ fields: { long: "x".repeat(10_000) } });
  log.with({ a: 1 }).with({ b: 2 }).info("Said");
  match(formatHuman(lines[0] as LogLine), / long="x+\[\d+ more\]" a=1 b=2$/);
});

test("unreadable fields are logged as unprintable", () => {
  const { proxy, revoke } = Proxy.revocable({}, {});
  revoke();
  ok(formatHuman(aLine(proxy)).includes('fields="[unprintable: '));
});

test("the silent logger and its children write nothing", () => {
  silentLogger.with({ a: 1 }).error("Suppressed");
  equal(silentLogger.with({}), silentLogger);
});

// ── formats ─────────────────────────────────────────────────────────────────────────────────────────

for (const { it, fields, sentence, human, json } of [
  {
    it: "simple values without quotes",
    fields: { replicaSet: "default/web", from: 1, ready: true, none: null },
    human: "Scaling replicaSet=default/web from=1 ready=true none=null",
    json: '"msg":"Scaling","replicaSet":"default/web","from":1,"ready":true,"none":null',
  },
  {
    it: "texts that could be mistaken for something else in quotes",
    fields: { empty: "", space: "a b", equals: "a=b", quote: '"' },
    human: String.raw`Scaling empty="" space="a b" equals="a=b" quote="\""`,
    json: String.raw`"msg":"Scaling","empty":"","space":"a b","equals":"a=b","quote":"\""`,
  },
  {
    it: "lists and objects as JSON",
    fields: { nodes: ["n1", "n2"], limits: { cpu: "1" } },
    human: 'Scaling nodes=["n1","n2"] limits={"cpu":"1"}',
    json: '"msg":"Scaling","nodes":["n1","n2"],"limits":{"cpu":"1"}',
  },
  {
    it: "letters of any language as they are",
    fields: { name: "größe-北" },
    human: "Scaling name=größe-北",
    json: '"msg":"Scaling","name":"größe-北"',
  },
  {
    it: "an error with its cause",
    fields: { error: new Error("Cannot bind", { cause: new Error("port in use") }) },
    human: 'Scaling error="Cannot bind: port in use"',
    json: '"msg":"Scaling","error":"Cannot bind: port in use"',
  },
  {
    it: "fields with the names of the line's own beside those",
    fields: { time: 1, level: 2, msg: 3 },
    human: "Scaling time=1 level=2 msg=3",
    json: '"msg":"Scaling","field.time":1,"field.level":2,"field.msg":3',
  },
  {
    it: "terminal escapes, controls and marks of direction as their numbers",
    fields: { "\u001b[2J": "\u001b[31m\r\n", c1: "\u009b1m", turn: "\u202egpj" },
    sentence: "Bell\u0007",
    human: String.raw`Bell\u0007 "\u001b[2J"="\u001b[31m\r\n" c1="\u009b1m" turn="\u202egpj"`,
    json: undefined,
  },
]) {
  test(`lines show ${it}`, () => {
    const line = aLine(fields, sentence);
    equal(formatHuman(line), `1970-01-01T00:00:00.000Z INFO  ${human}`);
    if (json !== undefined) equal(formatJson(line), `{"time":"1970-01-01T00:00:00.000Z","level":"info",${json}}`);
  });
}

test("a timestamp outside of Date's range does not break a line", () => {
  equal(formatHuman({ ...aLine({}), timeMs: Infinity }), "Infinity INFO  Scaling");
});

test("the human format is one line without control characters for any fields, and the JSON format round-trips them", () => {
  const text = fc.string({ unit: "binary" });
  const fields = fc.dictionary(text, fc.oneof(text, fc.jsonValue()));
  // oxlint-disable-next-line no-control-regex -- control characters are what must not be there
  const controls = /[\u0000-\u001f\u007f-\u009f\u2028\u2029\u202a-\u202e\u2066-\u2069]/;
  fc.assert(
    fc.property(fields, text, (some, sentence) => {
      const line = aLine(some, sentence);
      equal(controls.test(formatHuman(line)), false);
      const { time: _time, level: _level, msg, ...rest } = JSON.parse(formatJson(line)) as Record<string, unknown>;
      equal(msg, sentence);
      equal(Object.keys(rest).length, Object.keys(some).length);
    }),
    settings,
  );
});
