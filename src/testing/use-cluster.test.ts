import { deepEqual, equal, notEqual, rejects, throws } from "node:assert/strict";
import { describe, test } from "node:test";
import type { Cluster } from "../embedded/cluster.ts";
import { useCluster, useFork, type TestHook, type UseClusterOptions } from "./use-cluster.ts";

/** A test framework whose hooks run when the test calls them. */
class Framework {
  readonly #work = new Map<string, () => Promise<void>>();
  readonly hooks = {
    before: this.#hook("before"),
    after: this.#hook("after"),
    beforeEach: this.#hook("beforeEach"),
    afterEach: this.#hook("afterEach"),
  };

  #hook(name: string): TestHook {
    return (work) => this.#work.set(name, work);
  }

  async run(name: keyof typeof this.hooks): Promise<void> {
    await this.#work.get(name)?.();
  }

  /** A test with the hooks around it. */
  async test(body: () => Promise<unknown>): Promise<void> {
    await this.run("beforeEach");
    await body();
    await this.run("afterEach");
  }
}

const configMap = (name: string) => ({ apiVersion: "v1", kind: "ConfigMap", metadata: { name } });
const exists = (cluster: Cluster, name: string) =>
  cluster.get(`configmap/${name}`).then(
    () => true,
    () => false,
  );
const PREPARED: UseClusterOptions = { clock: "virtual", nodes: 0, prepare: (cluster) => cluster.apply(configMap("shared")) };

test("useCluster: all tests share one cluster that is prepared before the first and closed after the last", async () => {
  const framework = new Framework();
  const cluster = useCluster(PREPARED, framework.hooks);

  await framework.run("before");
  const seen: Cluster[] = [];
  await framework.test(async () => {
    seen.push(cluster());
    await cluster().apply(configMap("mine"));
  });
  await framework.test(async () => {
    seen.push(cluster());
    deepEqual([await exists(cluster(), "shared"), await exists(cluster(), "mine")], [true, true]);
  });
  await framework.run("after");

  equal(seen[0], seen[1]);
  throws(cluster, /There is no cluster outside of tests/);
});

test("useFork: each test has its own fork of the prepared cluster and sees no changes of others", async () => {
  const framework = new Framework();
  const cluster = useFork(PREPARED, framework.hooks);

  await framework.run("before");
  const seen: Cluster[] = [];
  for (let round = 0; round < 2; round++) {
    await framework.test(async () => {
      seen.push(cluster());
      deepEqual([await exists(cluster(), "shared"), await exists(cluster(), "mine")], [true, false]);
      await cluster().apply(configMap("mine"));
    });
  }
  throws(cluster, /There is no cluster outside of tests: call what useFork returned inside a test/);
  await framework.run("after");

  notEqual(seen[0], seen[1]);
});

test("a failing `prepare` fails the hook and leaves nothing open", async () => {
  const framework = new Framework();
  let started: Cluster | undefined;
  const prepare = async (cluster: Cluster) => {
    started = cluster;
    await cluster.apply({ apiVersion: "v1", kind: "Nothing", metadata: { name: "x" } });
  };
  const cluster = useCluster({ ...PREPARED, prepare }, framework.hooks);

  await rejects(framework.run("before"), /no matches for kind "Nothing" in version "v1"/);
  await framework.run("after");

  throws(cluster, /There is no cluster/);
  await rejects(started?.apply(configMap("late")) ?? Promise.resolve());
});

describe("useCluster and useFork without hooks", () => {
  for (const { it, names } of [
    { it: "beforeAll and afterAll of jest and vitest are detected", names: ["beforeAll", "afterAll"] },
    { it: "before and after of mocha are detected", names: ["before", "after"] },
  ]) {
    test(it, () => {
      const called: string[] = [];
      const define = (name: string) => Object.assign(globalThis, { [name]: () => called.push(name) });
      names.forEach(define);
      try {
        useCluster(PREPARED);
        throws(() => useFork(PREPARED), /give useFork its hooks/);
      } finally {
        for (const name of names) Reflect.deleteProperty(globalThis, name);
      }
      deepEqual(called, names);
    });
  }

  test("without global hooks, the error names the hooks to pass", () => {
    throws(
      () => useCluster(),
      /^Error: Cannot find a test framework: .* give useCluster its hooks as the second argument, \{ before, after \} of node:test or \{ beforeAll, afterAll \} of vitest$/,
    );
    throws(
      () => useFork(),
      /\{ before, after, beforeEach, afterEach \} of node:test or \{ beforeAll, afterAll, beforeEach, afterEach \} of vitest$/,
    );
  });
});
