import { deepEqual } from "node:assert/strict";
import { describe, test } from "node:test";
import { packageDirectory } from "../src/testing/package-directory.ts";
import { layerViolations, ROOMS } from "./layers.ts";
import { readSources } from "./source/read-sources.ts";
import { parseSource } from "./source/source.ts";

/** Violations of one file with this text. */
function judge(path: string, text: string): string[] {
  return layerViolations([parseSource(path, text)]);
}

test("no room of src/ imports anything that the table does not allow", () => {
  deepEqual(layerViolations(readSources(packageDirectory(import.meta.dirname), "src")), []);
});

test("the rooms in the table exist", () => {
  const unknown = Object.entries(ROOMS).flatMap(([room, { knows }]) =>
    knows === "all" ? [] : knows.filter((other) => !(other.replace("/**", "") in ROOMS)).map((other) => `${room}: ${other}`),
  );
  deepEqual(unknown, []);
});

describe("every form of import is found, with its file and line", () => {
  const STORE_SAYS = "src/base/a.ts:2: imports store/store.ts: base may import no other room";
  for (const { kind, statement } of [
    { kind: "a named import", statement: `import { x } from "../store/store.ts";` },
    { kind: "a default import", statement: `import x from "../store/store.ts";` },
    { kind: "a namespace import", statement: `import * as x from "../store/store.ts";` },
    { kind: "an import of types", statement: `import type { X } from "../store/store.ts";` },
    { kind: "an import of one type among values", statement: `import { type X } from "../store/store.ts";` },
    { kind: "an import for its side effect", statement: `import "../store/store.ts";` },
    { kind: "a re-export", statement: `export { x } from "../store/store.ts";` },
    { kind: "a re-export of types", statement: `export type { X } from "../store/store.ts";` },
    { kind: "a re-export of everything", statement: `export * from "../store/store.ts";` },
    { kind: "a re-export of a namespace", statement: `export * as x from "../store/store.ts";` },
    { kind: "a dynamic import", statement: `const load = () => import("../store/store.ts");` },
    { kind: "a dynamic import of a template", statement: "const load = () => import(`../store/store.ts`);" },
    {
      kind: "a dynamic import deep inside",
      statement: `class A { async b() { if (this) { for (;;) await import("../store/store.ts"); } } }`,
    },
    { kind: "a type taken from an import()", statement: `export type X = import("../store/store.ts").X;` },
  ]) {
    test(kind, () => deepEqual(judge("src/base/a.ts", `\n${statement}\n`), [STORE_SAYS]));
  }
});

describe("imports with a hidden target are refused", () => {
  const COMPUTED = "imports something computed; write the name as a literal so that it can be checked";
  const REQUIRE = "uses require, which hides what it imports; use import";
  for (const { kind, statement, says } of [
    { kind: "a computed dynamic import", statement: `await import(name);`, says: COMPUTED },
    { kind: "a dynamic import of a template with a hole", statement: "await import(`./${name}.ts`);", says: COMPUTED },
    { kind: "require", statement: `const fs = require("fs");`, says: REQUIRE },
    { kind: "createRequire", statement: `const load = createRequire(import.meta.url);`, says: REQUIRE },
    { kind: "createRequire of a namespace", statement: `const load = module.createRequire(import.meta.url);`, says: REQUIRE },
    { kind: "import x = require()", statement: `import fs = require("fs");`, says: REQUIRE },
    { kind: "process.getBuiltinModule", statement: `const fs = process.getBuiltinModule("fs");`, says: REQUIRE },
  ]) {
    test(kind, () => deepEqual(judge("src/main/a.ts", `\n\n${statement}\n`), [`src/main/a.ts:3: ${says}`]));
  }
});

describe("rooms import only the rooms of their line", () => {
  for (const { it, file, imports, says } of [
    {
      it: "a volume kind on the kubelet",
      file: "kubelet/volumes/empty-dir/a.ts",
      imports: "../../pod/pod-worker.ts",
      says: "imports kubelet/pod/pod-worker.ts: kubelet/volumes may import base, api/machinery, cel, api, csi, kubelet/volumes/framework",
    },
    {
      it: "the volume framework on the kubelet",
      file: "kubelet/volumes/framework/a.ts",
      imports: "../../references/b.ts",
      says: "imports kubelet/references/b.ts: kubelet/volumes/framework may import base, api/machinery, cel, api, csi, kubelet/contracts, kubelet/shared",
    },
    {
      it: "the simulated runtime on the kubelet",
      file: "kubelet/runtime/simulated/a.ts",
      imports: "../../pod/pod-worker.ts",
      says: "imports kubelet/pod/pod-worker.ts: kubelet/runtime may import base, api/machinery, cel, api, kubelet/contracts, kubelet/shared",
    },
    {
      it: "the CRI runtime on the kubelet",
      file: "kubelet/runtime/cri/a.ts",
      imports: "../../images/b.ts",
      says: "imports kubelet/images/b.ts: kubelet/runtime/cri may import base, api/machinery, cel, api, host/**, kubelet/contracts, kubelet/shared",
    },
    {
      it: "a contract of the kubelet on the kubelet",
      file: "kubelet/contracts/a.ts",
      imports: "../probes/b.ts",
      says: "imports kubelet/probes/b.ts: kubelet/contracts may import base, api/machinery, cel, api",
    },
    { it: "the store's core on host", file: "store/a.ts", imports: "../host/b.ts", says: "imports host/b.ts: store may import base" },
    {
      it: "the memory driver on host",
      file: "store/memory/a.ts",
      imports: "../../host/b.ts",
      says: "imports host/b.ts: store/memory may import base, store",
    },
    {
      it: "one driver on another",
      file: "store/memory/a.ts",
      imports: "../embedded/b.ts",
      says: "imports store/embedded/b.ts: store/memory may import base, store",
    },
    {
      it: "the store's core on a driver",
      file: "store/a.ts",
      imports: "./memory/b.ts",
      says: "imports store/memory/b.ts: store may import base",
    },
    {
      it: "the API server on a driver",
      file: "apiserver/storage/a.ts",
      imports: "../../store/etcd/b.ts",
      says: "imports store/etcd/b.ts: apiserver/storage may import base, api/machinery, cel, api, explain, store, apiserver/framework, apiserver/shared",
    },
    {
      it: "the API server's engine on its HTTP side",
      file: "apiserver/watch/a.ts",
      imports: "../http/b.ts",
      says: "imports apiserver/http/b.ts: apiserver/watch may import base, api/machinery, cel, api, explain, store, apiserver/framework, apiserver/shared",
    },
    {
      it: "the API server's contracts on its engine",
      file: "apiserver/framework/a.ts",
      imports: "../storage/b.ts",
      says: "imports apiserver/storage/b.ts: apiserver/framework may import base, api/machinery, cel, api, explain, store",
    },
    {
      it: "the API server's engine on a plugin",
      file: "apiserver/write/a.ts",
      imports: "../authorization/b.ts",
      says: "imports apiserver/authorization/b.ts: apiserver/write may import base, api/machinery, cel, api, explain, store, apiserver/framework, apiserver/shared, apiserver/limits",
    },
    {
      it: "a plugin of the API server on the engine",
      file: "apiserver/admission/a/a.ts",
      imports: "../../storage/b.ts",
      says: "imports apiserver/storage/b.ts: apiserver/admission may import base, api/machinery, cel, api, explain, store, apiserver/framework, apiserver/shared",
    },
    {
      it: "a plugin of the API server on one of another contract",
      file: "apiserver/documents/a.ts",
      imports: "../fairness/b.ts",
      says: "imports apiserver/fairness/b.ts: apiserver/documents may import base, api/machinery, cel, api, explain, store, apiserver/framework, apiserver/shared",
    },
    {
      it: "shared helpers of the API server on a plugin",
      file: "apiserver/shared/a.ts",
      imports: "../resources/b.ts",
      says: "imports apiserver/resources/b.ts: apiserver/shared may import base, api/machinery, cel, api, explain, store, apiserver/framework",
    },
    {
      it: "a scheduler on the store",
      file: "scheduler/cycle.ts",
      imports: "../store/store.ts",
      says: "imports store/store.ts: scheduler may import base, api/machinery, cel, api, client, scheduler/framework",
    },
    {
      it: "a plugin on the client",
      file: "scheduler/plugins/a/a.ts",
      imports: "../../../client/client.ts",
      says: "imports client/client.ts: scheduler/plugins may import base, api/machinery, cel, api, scheduler/framework",
    },
    {
      it: "machinery on a kind",
      file: "api/machinery/a.ts",
      imports: "../core/v1/pod.ts",
      says: "imports api/core/v1/pod.ts: api/machinery may import base",
    },
    {
      it: "a controller on another",
      file: "controllers/a/a.ts",
      imports: "../b/b.ts",
      says: "imports controllers/b/b.ts: the children of controllers must not import each other",
    },
    {
      it: "an authenticator on another",
      file: "apiserver/authentication/a/a.ts",
      imports: "../b/b.ts",
      says: "imports apiserver/authentication/b/b.ts: the children of apiserver/authentication must not import each other",
    },
    {
      it: "an authorizer on another",
      file: "apiserver/authorization/a/a.ts",
      imports: "../b/b.ts",
      says: "imports apiserver/authorization/b/b.ts: the children of apiserver/authorization must not import each other",
    },
    {
      it: "a connection of the API server on another",
      file: "apiserver/connections/pod.ts",
      imports: "./service.ts",
      says: "imports apiserver/connections/service.ts: the children of apiserver/connections must not import each other",
    },
    {
      it: "a helper of connections on a connection",
      file: "apiserver/connections/read.ts",
      imports: "./pod.ts",
      says: "imports apiserver/connections/pod.ts: the children of apiserver/connections must not import each other",
    },
    {
      it: "a bootstrap step on another",
      file: "apiserver/bootstrap/cluster-info.ts",
      imports: "./policy/policy.ts",
      says: "imports apiserver/bootstrap/policy/policy.ts: the children of apiserver/bootstrap must not import each other",
    },
    {
      it: "a command on another",
      file: "cli/commands/a.ts",
      imports: "./b.ts",
      says: "imports cli/commands/b.ts: the children of cli/commands must not import each other",
    },
    {
      it: "anything on a room that is not in the list",
      file: "base/a.ts",
      imports: "../attic/b.ts",
      says: "imports attic/b.ts, which is in no room; tools/layers.ts has the list",
    },
    {
      it: "anything on what is outside src/",
      file: "main/a.ts",
      imports: "../../tools/layers.ts",
      says: "imports tools/layers.ts, which is outside src/",
    },
    {
      it: "production on testing",
      file: "main/a.ts",
      imports: "../testing/needs.ts",
      says: "imports testing/needs.ts: only tests may import test code",
    },
    {
      it: "production on a suite",
      file: "store/memory/a.ts",
      imports: "../testing/store-suite.ts",
      says: "imports store/testing/store-suite.ts: only tests may import test code",
    },
    {
      it: "production on a test",
      file: "store/a.ts",
      imports: "./b.test.ts",
      says: "imports store/b.test.ts: only tests may import test code",
    },
    {
      it: "a test on a room that its room does not know",
      file: "base/a.test.ts",
      imports: "../store/store.ts",
      says: "imports store/store.ts: base may import no other room",
    },
    {
      it: "a file in a room that is not in the list",
      file: "attic/a.ts",
      imports: "./b.ts",
      says: "is in no room; tools/layers.ts has the list",
    },
  ]) {
    test(`refused: ${it}`, () => deepEqual(judge(`src/${file}`, `import "${imports}";`), [`src/${file}:1: ${says}`]));
  }

  for (const { it, file, imports } of [
    { it: "a driver on the contract", file: "store/memory/a.ts", imports: "../store.ts" },
    { it: "the embedded driver on a part of host", file: "store/embedded/a.ts", imports: "../../host/files/files.ts" },
    { it: "a controller on its runtime", file: "controllers/a/a.ts", imports: "../runtime/controller.ts" },
    { it: "the list of controllers on each", file: "controllers/all.ts", imports: "./a/a.ts" },
    { it: "the list of commands on each", file: "cli/commands/all.ts", imports: "./up.ts" },
    { it: "a command's test on the command", file: "cli/commands/a.test.ts", imports: "./a.ts" },
    { it: "a command's own test on the command", file: "cli/commands/a.own.test.ts", imports: "./a.ts" },
    { it: "main on everything", file: "main/a.ts", imports: "../store/etcd/b.ts" },
    { it: "a test on testing", file: "base/a.test.ts", imports: "../testing/rounds.ts" },
    { it: "a driver's test on the suite", file: "store/memory/a.test.ts", imports: "../testing/store-suite.ts" },
    { it: "a test on a room inside its own", file: "store/a.test.ts", imports: "./memory/b.ts" },
    { it: "a suite on testing", file: "store/testing/a-suite.ts", imports: "../../testing/rounds.ts" },
  ]) {
    test(`allowed: ${it}`, () => deepEqual(judge(`src/${file}`, `import "${imports}";`), []));
  }
});

describe("a file in no room is reported, whatever its content", () => {
  for (const { path, text } of [
    { path: "src/a.ts", text: "export const a = 1;" },
    { path: "src/attic/a.ts", text: "" },
    { path: "src/attic/a.ts", text: `\nimport "./b.ts";\nimport "node:fs";` },
  ]) {
    test(`${path}: ${JSON.stringify(text)}`, () =>
      deepEqual(judge(path, text), [`${path}:1: is in no room; tools/layers.ts has the list`]));
  }
});

describe("node: and npm packages are imported only where the table allows them", () => {
  for (const { it, file, imports, says } of [
    { it: "node: in a pure room", file: "base/a.ts", imports: "node:fs", says: "base may import @noble/hashes, sorted-btree from outside" },
    { it: "node: in a driver", file: "store/embedded/a.ts", imports: "node:fs", says: "store/embedded may import lmdb from outside" },
    { it: "a builtin without node:", file: "host/a.ts", imports: "fs", says: "host may import node:* from outside" },
    {
      it: "a package of another room",
      file: "store/etcd/a.ts",
      imports: "@grpc/grpc-js",
      says: "store/etcd may import nothing from outside",
    },
    { it: "a package that no room may import", file: "main/a.ts", imports: "left-pad", says: "main may import node:* from outside" },
    {
      it: "a package whose name has the same prefix",
      file: "store/embedded/a.ts",
      imports: "lmdb-store",
      says: "store/embedded may import lmdb from outside",
    },
    {
      it: "a file of a package of another room",
      file: "base/a.ts",
      imports: "lmdb/index.js",
      says: "base may import @noble/hashes, sorted-btree from outside",
    },
    { it: "node:test in production", file: "store/a.ts", imports: "node:test", says: "store may import nothing from outside" },
    {
      it: "node: in a pure test",
      file: "store/a.test.ts",
      imports: "node:fs",
      says: "store may import node:test, node:assert, node:assert/strict, fast-check from outside",
    },
    {
      it: "node: in a suite",
      file: "store/testing/a-suite.ts",
      imports: "node:fs",
      says: "store may import node:test, node:assert, node:assert/strict, fast-check from outside",
    },
    {
      it: "a package in an own test",
      file: "base/a.own.test.ts",
      imports: "lmdb",
      says: "base may import node:*, @noble/hashes, sorted-btree, node:test, node:assert, node:assert/strict, fast-check from outside",
    },
  ]) {
    test(`refused: ${it}`, () => deepEqual(judge(`src/${file}`, `import "${imports}";`), [`src/${file}:1: imports ${imports}: ${says}`]));
  }

  for (const { it, file, imports } of [
    { it: "node: in host", file: "host/a.ts", imports: "node:fs" },
    { it: "sorted-btree in base", file: "base/a.ts", imports: "sorted-btree" },
    { it: "lmdb in the embedded driver", file: "store/embedded/a.ts", imports: "lmdb" },
    { it: "node:test in a pure test", file: "base/a.test.ts", imports: "node:test" },
    { it: "fast-check in a suite", file: "store/testing/a-suite.ts", imports: "fast-check" },
    { it: "node: in an own test", file: "store/a.own.test.ts", imports: "node:child_process" },
    { it: "node: in a suite of a room that has files", file: "store/embedded/testing/child.ts", imports: "node:fs" },
  ]) {
    test(`allowed: ${it}`, () => deepEqual(judge(`src/${file}`, `import "${imports}";`), []));
  }
});
