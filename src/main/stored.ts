/**
 * What the `k8ts store …` commands share: they look at a store that is there already, while no cluster runs on it, and close
 * it whatever happens. Looking must not make a store, so a data directory without one is an error.
 */
import { fileExists, joinPath } from "../host/files.ts";
import type { Store } from "../store/store.ts";
import type { Environment, Io } from "./command.ts";
import type { FlagSet, Parsed } from "./flags.ts";
import { checkHomeFormat } from "./home/home-marker.ts";
import { openStore } from "./open-store.ts";
import { storeConfig, storeFlags, type StoreConfig, type StoreFlagValues } from "./store-config.ts";

export const revisionFlag = {
  type: "number",
  min: 1,
  placeholder: "REVISION",
  doc: "As of this revision, which must still be in the kept history. Default: the newest.",
} as const;

export const storedFlags = {
  ...storeFlags,
  "data-dir": {
    ...storeFlags["data-dir"],
    doc: "Directory of the embedded store. Default: $XDG_DATA_HOME/k8ts/default, or ~/.local/share/k8ts/default.",
  },
  store: {
    ...storeFlags.store,
    of: ["embedded", "etcd"],
    doc: "Where the state is: in files or in an etcd cluster. Default: embedded, or etcd if --etcd-servers is given.",
  },
} as const satisfies FlagSet;

export interface StoredOptions {
  readonly store: StoreConfig;
}

/** The options of a command that needs no more than to know which store. */
export function storedOptions(values: StoreFlagValues, environment: Environment): Parsed<StoredOptions> {
  const store = storeConfig(values, environment);
  return store.ok ? { ok: true, options: { store: store.options } } : store;
}

export async function withStored<T>(config: StoreConfig, io: Io, work: (store: Store) => Promise<T>): Promise<T> {
  if (config.driver === "embedded") await checkStored(config.dataDirectory);
  return withStore(config, io, work);
}

async function checkStored(directory: string): Promise<void> {
  // First: a newer version may keep its state in files of other names.
  await checkHomeFormat(directory);
  if (await fileExists(joinPath(directory, "store.mdb"))) return;
  throw new Error(`Cannot find a store in ${directory}: name its directory with --data-dir`);
}

export async function withStore<T>(config: StoreConfig, io: Io, work: (store: Store) => Promise<T>): Promise<T> {
  const store = await openStore(config, io);
  try {
    return await work(store);
  } finally {
    await store.close();
  }
}
