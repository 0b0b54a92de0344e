import { deepEqual } from "node:assert/strict";
import { describe, test } from "node:test";
import { packageDirectory } from "../src/testing/package-directory.ts";
import { purityViolations } from "./purity.ts";
import { readSources } from "./source/read-sources.ts";
import { parseSource } from "./source/source.ts";

function judge(path: string, text: string): string[] {
  return purityViolations([parseSource(path, text)]);
}

test("only host reads the machine's clock, sets its timers, uses its randomness or accesses the process", () => {
  deepEqual(purityViolations(readSources(packageDirectory(import.meta.dirname), "src")), []);
});

describe("refused in a pure room, with file and line", () => {
  for (const { code, says } of [
    { code: "const a = Date.now();", says: "Date.now; base takes clock.now" },
    { code: `const a = Date["now"]();`, says: "Date.now; base takes clock.now" },
    { code: "const a = Date[name]();", says: "a computed member of Date; base takes a member by its name" },
    { code: "const { now } = Date;", says: "Date as a value, which hides the members in use; base takes clock.now" },
    { code: "const D = Date;", says: "Date as a value, which hides the members in use; base takes clock.now" },
    { code: "f(Date);", says: "Date as a value, which hides the members in use; base takes clock.now" },
    { code: "const a = new Date();", says: "new Date() without a plain argument; base takes clock.now" },
    { code: "const a = new Date;", says: "new Date() without a plain argument; base takes clock.now" },
    { code: "const a = Date();", says: "Date(); base takes clock.now" },
    { code: "const a = performance.now();", says: "performance; base takes the Clock" },
    { code: "const { now } = performance;", says: "performance; base takes the Clock" },
    { code: "setTimeout(() => {}, 1);", says: "setTimeout; base takes clock.sleep" },
    { code: "const later = setTimeout;", says: "setTimeout; base takes clock.sleep" },
    { code: "setInterval(f, 1);", says: "setInterval; base takes clock.sleep" },
    { code: "setImmediate(f);", says: "setImmediate; base takes clock.soon" },
    { code: "queueMicrotask(f);", says: "queueMicrotask; base takes a promise, or clock.soon" },
    { code: "process.nextTick(f);", says: "process; base takes an argument" },
    { code: "const a = process.env;", says: "process; base takes an argument" },
    { code: "const a = Math.random();", says: "Math.random; base takes the Random" },
    { code: `const a = Math["random"]();`, says: "Math.random; base takes the Random" },
    { code: "const { random } = Math;", says: "Math as a value, which hides the members in use; base takes the Random" },
    { code: "const a = crypto.randomUUID();", says: "crypto; base takes the Random, or host for secrets" },
    { code: "const a = { crypto };", says: "crypto; base takes the Random, or host for secrets" },
    { code: "const a = AbortSignal.timeout(5);", says: "AbortSignal.timeout; base takes clock.sleep" },
    { code: "globalThis.setTimeout(f);", says: "globalThis; base takes an argument" },
    { code: `globalThis["Date"].now();`, says: "globalThis; base takes an argument" },
    { code: "const g = globalThis;", says: "globalThis; base takes an argument" },
    { code: "await fetch(url);", says: "fetch; base takes a transport from host" },
    { code: "console.log(1);", says: "console; base takes the Logger" },
    { code: "const a = Buffer.from([]);", says: "Buffer; base takes a Uint8Array" },
    {
      code: "const a = (Date as unknown as { now(): number }).now();",
      says: "Date as a value, which hides the members in use; base takes clock.now",
    },
    { code: "class A { at = Date.now(); }", says: "Date.now; base takes clock.now" },
    { code: "const f = (at = Date.now()) => at;", says: "Date.now; base takes clock.now" },
    { code: "const f = (Date) => Date.now();", says: "Date as a value, which hides the members in use; base takes clock.now" },
    { code: "const a = new Date(...[]);", says: "new Date() without a plain argument; base takes clock.now" },
    { code: "const a = new Intl.DateTimeFormat().format();", says: "Intl; base takes a format that follows from its arguments" },
    { code: "const { port1 } = new MessageChannel();", says: "MessageChannel; base takes clock.soon" },
    { code: "const a = new BroadcastChannel(name);", says: "BroadcastChannel; base takes a transport from host" },
    { code: "const a = new Worker(file);", says: "Worker; base takes host" },
    { code: "await Atomics.waitAsync(a, 0, 0, 5).value;", says: "Atomics.waitAsync; base takes clock.sleep" },
    { code: "Atomics.wait(a, 0, 0, 5);", says: "Atomics.wait; base takes clock.sleep" },
    { code: "const a = navigator.hardwareConcurrency;", says: "navigator; base takes an argument" },
    { code: `localStorage.setItem("a", "b");`, says: "localStorage; base takes an argument" },
    { code: "const a = new PerformanceMark(name).startTime;", says: "PerformanceMark; base takes the Clock" },
    { code: "const a = new Event(name).timeStamp;", says: "Event; base takes the Clock" },
    { code: "const a = new File([], name).lastModified;", says: "File; base takes the Clock" },
    { code: `const a = new Function("return Date.now()")();`, says: "Function; base takes code that can be checked" },
    { code: `const a = eval("Date.now()");`, says: "eval; base takes code that can be checked" },
    { code: "const a = import.meta.dirname;", says: "import.meta; base takes an argument" },
    { code: "const a = import.meta.filename;", says: "import.meta; base takes an argument" },
    { code: "const { url } = import.meta;", says: "import.meta; base takes an argument" },
    { code: "const a = __dirname;", says: "__dirname; base takes an argument" },
  ]) {
    test(code, () => deepEqual(judge("src/base/a.ts", `\n${code}\n`).slice(0, 1), [`src/base/a.ts:2: uses ${says}`]));
  }
});

describe("a name that is declared elsewhere in the file does not excuse the global", () => {
  for (const elsewhere of [
    "const other = (setTimeout) => setTimeout();",
    "function other(setTimeout) {}",
    "const other = function setTimeout() {};",
    "const Other = class setTimeout {};",
    "class Other { run({ setTimeout }) {} }",
    "class Other { static { const setTimeout = 1; } }",
    "{ const setTimeout = 1; }",
    "{ function setTimeout() {} }",
    "for (const setTimeout of []) {}",
    "for (let setTimeout = 0; ; ) {}",
    "try {} catch (setTimeout) {}",
    "switch (1) { case 1: let setTimeout; }",
    `import { setTimeout as other } from "./other.ts";`,
    "declare function setTimeout(run: () => void): void;",
    "type Other = (setTimeout: Timer) => void;",
  ]) {
    test(elsewhere, () =>
      deepEqual(judge("src/base/a.ts", `${elsewhere}\nsetTimeout(() => {});\n`), [
        "src/base/a.ts:2: uses setTimeout; base takes clock.sleep",
      ]),
    );
  }

  test("a name that is only said to exist is named where that is said", () =>
    deepEqual(judge("src/base/a.ts", "declare const setTimeout: Timer;"), ["src/base/a.ts:1: uses setTimeout; base takes clock.sleep"]));

  test("a default of a parameter does not see the function's inside", () =>
    deepEqual(judge("src/base/a.ts", "function f(a = setTimeout) {\n  const setTimeout = 1;\n}"), [
      "src/base/a.ts:1: uses setTimeout; base takes clock.sleep",
    ]));
});

describe("allowed in a pure room", () => {
  for (const code of [
    "const a = new Date(ms).toISOString();",
    "const a = Date.parse(text) + Date.UTC(2026, 0);",
    "const a = value instanceof Date;",
    "const a = Math.max(1, 2);",
    "const a = AbortSignal.any([]);",
    "clock.setTimeout(f); host.process.env; this.crypto.sign();",
    "const a = { process: 1, crypto() {} };",
    "class A { process = 1; fetch() {} }",
    "let a: Date; type B = typeof Date; function f(): performance {}",
    "function fetch() {} fetch();",
    "const run = (process: Process) => process.start();",
    "function run({ fetch, own: [crypto, ...process] = [] }: Options) { fetch(crypto, process); }",
    "try { f(); } catch (process) { g(process); }",
    `import { fetch } from "./fetch.ts"; fetch();`,
    `import { fetch as get } from "./fetch.ts"; get();`,
    `import fetch from "./fetch.ts"; fetch();`,
    `import * as process from "./process.ts"; process.start();`,
    "export const process = 1; export function fetch() { return process; } fetch();",
    "function run() { later(); function later() { fetch(); } const fetch = () => 1; }",
    "const run = function fetch(count) { return fetch(count - 1); };",
    "for (const process of all) process.start();",
    "switch (kind) { case 1: { const process = f(); process.start(); } }",
    "class A { static { const process = 1; f(process); } }",
    "const a = structuredClone(b);",
    "function A() { return new.target; }",
    "Atomics.notify(a, 0);",
    "// Date.now() in a comment",
    `const a = "Date.now()";`,
  ]) {
    test(code, () => deepEqual(judge("src/base/a.ts", code), []));
  }
});

describe("which rooms are pure", () => {
  for (const { path, code, says } of [
    { path: "src/host/a.ts", code: "Date.now();", says: [] },
    { path: "src/testing/a.ts", code: "Date.now();", says: [] },
    { path: "src/base/a.test.ts", code: "Date.now();", says: [] },
    { path: "src/store/testing/a-suite.ts", code: "setTimeout(f);", says: [] },
    { path: "src/main/a.ts", code: "process.argv;", says: [] },
    { path: "src/main/a.ts", code: "Date.now();", says: ["src/main/a.ts:1: uses Date.now; main takes clock.now"] },
    {
      path: "src/store/embedded/a.ts",
      code: "setTimeout(f);",
      says: ["src/store/embedded/a.ts:1: uses setTimeout; store/embedded takes clock.sleep"],
    },
    { path: "src/store/embedded/a.ts", code: "Buffer.alloc(1);", says: [] },
    { path: "src/store/embedded/a.ts", code: "import.meta.url;", says: [] },
    {
      path: "src/store/memory/a.ts",
      code: "Buffer.alloc(1);",
      says: ["src/store/memory/a.ts:1: uses Buffer; store/memory takes a Uint8Array"],
    },
    { path: "src/kubelet/a.ts", code: "Math.random();", says: ["src/kubelet/a.ts:1: uses Math.random; kubelet takes the Random"] },
  ]) {
    test(`${path}: ${code}`, () => deepEqual(judge(path, code), says));
  }
});
