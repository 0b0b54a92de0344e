/**
 * Clusters for the tests of a file or suite, with any test framework: `useCluster` starts one before the first test and closes it after the
 * last; `useFork` gives every test its own copy of one that was prepared once, so that no test sees changes of another.
 *
 * Both know a test framework only by its four hooks, which jest, mocha and vitest (with `globals`) define as globals; for others they are
 * passed as arguments. They are called while tests are defined, and return a function, since the cluster does not exist yet.
 */
import type { Cluster, ClusterOptions } from "../embedded/cluster.ts";
import { startCluster } from "../embedded/start-cluster.ts";

export interface UseClusterOptions extends ClusterOptions {
  /** Prepares the cluster for every test: applies objects, stops nodes. Called once, before the first test. */
  readonly prepare?: (cluster: Cluster) => Promise<unknown>;
}

/** Registers a function to run around tests; its result is ignored. */
export type TestHook = (work: () => Promise<void>) => unknown;

/**
 * Hooks of vitest and jest (`beforeAll`, `afterAll`) or of node:test and mocha (`before`, `after`). A module that exports them works, too.
 */
export type SuiteHooks =
  | { readonly beforeAll: TestHook; readonly afterAll: TestHook }
  | { readonly before: TestHook; readonly after: TestHook };

export type EachTestHooks = SuiteHooks & { readonly beforeEach: TestHook; readonly afterEach: TestHook };

/** Starts one cluster for all tests of the file or suite in which this is called. */
export function useCluster(options: UseClusterOptions = {}, hooks: SuiteHooks = globalHooks("useCluster", SUITE_HOOKS)): () => Cluster {
  const { first, last } = aroundAll(hooks);
  let cluster: Cluster | undefined;
  first(async () => {
    cluster = await prepared(options);
  });
  last(async () => {
    await cluster?.close();
    cluster = undefined;
  });
  return () => cluster ?? outsideOfTests("useCluster");
}

/**
 * Gives each test a cluster of its own: a fork of the one that `prepare` has prepared. Requires tests to run one at a time, as frameworks
 * do by default; concurrent tests fork the cluster of `useCluster` themselves.
 */
export function useFork(options: UseClusterOptions = {}, hooks: EachTestHooks = globalHooks("useFork", EACH_TEST_HOOKS)): () => Cluster {
  const original = useCluster(options, hooks);
  let fork: Cluster | undefined;
  hooks.beforeEach(async () => {
    fork = await original().fork();
  });
  hooks.afterEach(async () => {
    await fork?.close();
    fork = undefined;
  });
  return () => fork ?? outsideOfTests("useFork");
}

async function prepared({ prepare, ...options }: UseClusterOptions): Promise<Cluster> {
  const cluster = await startCluster(options);
  try {
    await prepare?.(cluster);
    return cluster;
  } catch (error) {
    await cluster.close();
    throw error;
  }
}

function aroundAll(hooks: SuiteHooks): { readonly first: TestHook; readonly last: TestHook } {
  return "beforeAll" in hooks ? { first: hooks.beforeAll, last: hooks.afterAll } : { first: hooks.before, last: hooks.after };
}

const SUITE_HOOKS = [
  ["beforeAll", "afterAll"],
  ["before", "after"],
];
const EACH_TEST_HOOKS = SUITE_HOOKS.map((names) => [...names, "beforeEach", "afterEach"]);

/** The type follows from `spellings`. */
function globalHooks<T>(user: string, spellings: readonly (readonly string[])[]): T {
  const found = globalThis as Readonly<Record<string, unknown>>;
  const names = spellings.find((spelling) => spelling.every((name) => typeof found[name] === "function"));
  if (names !== undefined) return Object.fromEntries(names.map((name) => [name, found[name]])) as T;
  const [ofVitest = "", ofNode = ""] = spellings.map((spelling) => `{ ${spelling.join(", ")} }`);
  throw new Error(
    `Cannot find a test framework: there is no global beforeAll or before; give ${user} its hooks as the second argument, ${ofNode} of node:test or ${ofVitest} of vitest`,
  );
}

function outsideOfTests(user: string): never {
  throw new Error(`There is no cluster outside of tests: call what ${user} returned inside a test or a hook, not while tests are defined`);
}
