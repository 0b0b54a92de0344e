import { deepEqual, equal, rejects } from "node:assert/strict";
import { rm, mkdtemp, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, test } from "node:test";
import { silentLogger } from "../base/logger.ts";
import { realClock } from "../host/real-clock.ts";
import type { Environment, Io } from "../cli/framework/command.ts";
import {
  connectionFlags,
  connectionSource,
  durationMs,
  electionFlagProblems,
  electionFlags,
  electionTimes,
  loadConnection,
} from "./connection-flags.ts";
import { parseArguments } from "../cli/framework/flags.ts";

function election(...words: readonly string[]) {
  return parseArguments({ flags: electionFlags, arguments: {} }, words);
}

function io(environment: Environment): Io {
  return { out() {}, note() {}, environment, clock: realClock, log: silentLogger, signal: new AbortController().signal };
}

describe("the source of a connection names kubeconfig and context", () => {
  const inPod = { tokenFile: "/var/run/secrets/kubernetes.io/serviceaccount/token" };
  for (const [words, environment, credentials, source] of [
    [["--kubeconfig=admin.conf"], { KUBECONFIG: "other" }, {}, "the current context of admin.conf"],
    [["--kubeconfig=admin.conf", "--context=test"], {}, {}, 'context "test" of admin.conf'],
    [[], { KUBECONFIG: "one:other" }, {}, "the current context of one:other"],
    [[], { KUBECONFIG: "" }, {}, "the current context of ~/.kube/config"],
    [[], {}, inPod, "the service account of this Pod"],
    [["--kubeconfig=admin.conf"], {}, inPod, "the current context of admin.conf"],
  ] as const) {
    test(source, () => {
      const { values } = parseArguments({ flags: connectionFlags, arguments: {} }, words);
      equal(connectionSource(values, environment, { server: "https://192.0.2.1", namespace: "default", credentials }), source);
    });
  }
});

test("without flags the durations are upstream's", () => {
  deepEqual(electionTimes(election().values), { leaseDurationMs: 15_000, renewDeadlineMs: 10_000, retryPeriodMs: 2_000 });
  deepEqual(electionFlagProblems(election().values), []);
});

test("invalid durations and combinations are reported in terms of the flags", () => {
  deepEqual(election("--leader-elect-lease-duration=soon", "--leader-elect-retry-period=-1s").problems, [
    '--leader-elect-lease-duration must be a duration such as "15s" or "1m30s", is "soon"',
    '--leader-elect-retry-period must be a duration such as "15s" or "1m30s", is "-1s"',
  ]);
  const { values } = election("--leader-elect-lease-duration=5s", "--leader-elect-renew-deadline=5s", "--leader-elect-retry-period=5s");
  deepEqual(electionFlagProblems(values), [
    "--leader-elect-lease-duration must be greater than --leader-elect-renew-deadline (5000), is 5000 (in ms)",
    "--leader-elect-renew-deadline must be greater than 1.2 times --leader-elect-retry-period (5000), is 5000 (in ms)",
  ]);
});

describe("durations have the format of Kubernetes", () => {
  for (const [text, expectedMs] of [
    ["15s", 15_000],
    ["1m30s", 90_000],
    ["500ms", 500],
    ["1.5h", 5_400_000],
  ] as const) {
    test(text, () => equal(durationMs(text), expectedMs));
  }
});

test("the connection is that of the file and context of the flags, or of the environment", async () => {
  const directory = await mkdtemp(join(tmpdir(), "k8ts-connection-"));
  after(() => rm(directory, { recursive: true }));
  const file = join(directory, "config");
  const cluster = (name: string) => ({ name, cluster: { server: `https://${name}.example:6443` } });
  const context = (name: string) => ({ name, context: { cluster: name, user: "me" } });
  await writeFile(
    file,
    JSON.stringify({
      ...{ apiVersion: "v1", kind: "Config", "current-context": "a", users: [{ name: "me", user: { token: "t" } }] },
      ...{ clusters: [cluster("a"), cluster("b")], contexts: [context("a"), context("b")] },
    }),
  );
  const values = (...words: readonly string[]) => parseArguments({ flags: connectionFlags, arguments: {} }, words).values;

  equal((await loadConnection(values(`--kubeconfig=${file}`), io({}))).server, "https://a.example:6443");
  equal((await loadConnection(values("--kubeconfig", file, "--context=b"), io({}))).server, "https://b.example:6443");
  equal((await loadConnection(values(), io({ KUBECONFIG: file }))).server, "https://a.example:6443");
  await rejects(loadConnection(values(`--kubeconfig=${file}`, "--context=c"), io({})), /context was not found for specified context: c/);
  await rejects(loadConnection(values(`--kubeconfig=${join(directory, "none")}`), io({})), /none/);
});
