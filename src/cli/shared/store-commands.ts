/**
 * Shared by the `k8ts store …` commands: they open an existing store and always close it. The embedded store of a running cluster is
 * accessed through its API server, which has it locked (components/store); if the cluster is stopped, the command opens the directory
 * itself. Reading must not create a store, so a data directory without one is an error.
 */
import { fileExists, joinPath } from "../../host/files/files.ts";
import type { Store } from "../../store/store.ts";
import type { Environment, Io } from "../framework/command.ts";
import type { FlagSet, FlagValues, Parsed } from "../framework/flags.ts";
import { chooseHome, homeFlags } from "../../cluster/home/home-flags.ts";
import { checkHomeFormat } from "../../cluster/home/home-marker.ts";
import { openStore } from "../../components/store/open-store.ts";
import { connectStore } from "../../components/store/connect-store.ts";
import type { StoreAccess } from "../../components/store/protocol.ts";
import { storeConfig, storeFlags, type StoreConfig } from "../../config/store-config.ts";

export const revisionFlag = {
  type: "number",
  min: 1,
  placeholder: "REVISION",
  doc: "Revision to read, which must not be compacted yet. Default: the newest.",
} as const;

export const nameFlag = {
  ...homeFlags.name,
  doc: "Name of the cluster whose embedded store is used. Default: default.",
} as const;

export const storedFlags = {
  name: nameFlag,
  ...storeFlags,
  "data-dir": {
    ...storeFlags["data-dir"],
    doc: "Directory of the embedded store, instead of --name. Default: $XDG_DATA_HOME/k8ts/NAME, or ~/.local/share/k8ts/NAME.",
  },
  store: {
    ...storeFlags.store,
    of: ["embedded", "etcd"],
    doc: "Storage driver. Default: embedded, or etcd if --etcd-servers is set.",
  },
} as const satisfies FlagSet;

export interface StoredOptions {
  readonly store: StoreConfig;
}

/** Options of a command that only selects a store. */
export function storedOptions(values: FlagValues<typeof storedFlags>, environment: Environment): Parsed<StoredOptions> {
  const { name, ...rest } = values;
  const isEtcd = values.store === "etcd" || (values.store === undefined && values["etcd-servers"].length > 0);
  if (isEtcd && name !== undefined) return { ok: false, problems: ["--name requires --store embedded, the store is etcd"] };
  const home = isEtcd ? undefined : chooseHome(values, environment);
  if (home?.ok === false) return home;
  const store = storeConfig(home === undefined ? rest : { ...rest, "data-dir": home.options.directory }, environment);
  return store.ok ? { ok: true, options: { store: store.options } } : store;
}

/** Calls `work` with the store of a running cluster, or with one that it opens itself. */
export async function withStored<T>(config: StoreConfig, io: Io, work: (store: StoreAccess) => Promise<T>): Promise<T> {
  if (config.driver === "embedded") {
    await checkStored(config.dataDirectory);
    const running = await connectStore(config.dataDirectory, io.environment);
    if (running !== undefined) return work(running);
  }
  return withStore(config, io, work);
}

async function checkStored(directory: string): Promise<void> {
  // First: a newer version may use other file names.
  await checkHomeFormat(directory);
  if (await fileExists(joinPath(directory, "store.mdb"))) return;
  throw new Error(`Cannot find a store in ${directory}: choose the cluster with --name, or its directory with --data-dir`);
}

export async function withStore<T>(config: StoreConfig, io: Io, work: (store: Store) => Promise<T>): Promise<T> {
  const store = await openStore(config, io);
  try {
    return await work(store);
  } finally {
    await store.close();
  }
}

/** Key prefix of etcd, which keys of a store do not have. */
const DEFAULT_ROOT = "/registry";

/** Normalizes a key or prefix as typed: with the prefix that etcd shows (/registry/pods/…) or without (/pods/…). */
export function normalizeKey(key: string, config: StoreConfig): string {
  const root = (config.driver === "etcd" ? config.prefix : undefined) ?? DEFAULT_ROOT;
  return key === root || key.startsWith(`${root}/`) ? key.slice(root.length) : key;
}
