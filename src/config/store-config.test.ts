import { deepEqual } from "node:assert/strict";
import { describe, test } from "node:test";
import { parseArguments } from "../cli/framework/flags.ts";
import { storeConfig, storeFlags } from "./store-config.ts";

function configOf(words: string, environment: Readonly<Record<string, string>> = { HOME: "/home/a" }) {
  const { values, problems } = parseArguments({ flags: storeFlags, arguments: {} }, words === "" ? [] : words.split(" "));
  deepEqual(problems, []);
  return storeConfig(values, environment);
}

describe("flags and environment select the store", () => {
  for (const { words, environment, options } of [
    { words: "", environment: { HOME: "/home/a" }, options: { driver: "embedded", dataDirectory: "/home/a/.local/share/k8ts/default" } },
    {
      words: "",
      environment: { HOME: "/home/a", XDG_DATA_HOME: "/data" },
      options: { driver: "embedded", dataDirectory: "/data/k8ts/default" },
    },
    {
      words: "",
      environment: { HOME: "/home/a", XDG_DATA_HOME: "relative" },
      options: { driver: "embedded", dataDirectory: "/home/a/.local/share/k8ts/default" },
    },
    { words: "--data-dir d", environment: {}, options: { driver: "embedded", dataDirectory: "d" } },
    { words: "--store memory", environment: {}, options: { driver: "memory" } },
    {
      words: "--etcd-servers http://a:1,https://[::1]:2",
      environment: {},
      options: { driver: "etcd", servers: ["http://a:1", "https://[::1]:2"], files: {} },
    },
    {
      words: "--store etcd --etcd-servers https://a --etcd-prefix /p --etcd-cafile ca --etcd-certfile c --etcd-keyfile k",
      environment: {},
      options: { driver: "etcd", servers: ["https://a"], prefix: "/p", files: { ca: "ca", certificate: "c", key: "k" } },
    },
  ] as const) {
    test(`${Object.keys(environment).join(" ")} ${words}`, () => deepEqual(configOf(words, environment), { ok: true, options }));
  }
});

describe("all contradictions of flags are reported at once", () => {
  for (const { words, environment, problems } of [
    { words: "", environment: {}, problems: ["--data-dir is required: neither XDG_DATA_HOME nor HOME is set"] },
    { words: "--store etcd", problems: ["--etcd-servers is required: set it to the URL of at least one etcd member"] },
    {
      words: "--store memory --data-dir d --etcd-servers http://a",
      problems: ["--data-dir requires --store embedded, the store is memory", "--etcd-servers requires --store etcd, the store is memory"],
    },
    { words: "--store embedded --etcd-prefix /p", problems: ["--etcd-prefix requires --store etcd, the store is embedded"] },
    {
      words: "--etcd-servers http://a --etcd-keyfile k --data-dir d",
      problems: ["--data-dir requires --store embedded, the store is etcd", "--etcd-certfile and --etcd-keyfile must be set together"],
    },
  ]) {
    test(words, () => deepEqual(configOf(words, environment), { ok: false, problems }));
  }
});

describe("an invalid address or prefix is rejected with its flag", () => {
  for (const word of [
    "--etcd-servers=a:2379",
    "--etcd-servers=ftp://a",
    "--etcd-servers=http://a/b",
    "--etcd-servers=http://",
    "--etcd-prefix=registry",
    "--etcd-prefix=/registry/",
    "--etcd-prefix=/",
  ]) {
    test(word, () => deepEqual(parseArguments({ flags: storeFlags, arguments: {} }, [word]).problems.length, 1));
  }
});
