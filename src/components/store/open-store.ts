/** Opens the store of a configuration. Each driver is loaded on demand. */
import type { Clock } from "../../base/clock.ts";
import type { Logger } from "../../base/logger.ts";
import { realRandom } from "../../host/real-random.ts";
import type { Store } from "../../store/store.ts";
import { StoreError } from "../../store/store-error.ts";
import { readFileFlagBytes } from "../../cli/framework/file-flag.ts";
import { checkHomeFormat } from "../../cluster/home/home-marker.ts";
import type { EtcdStoreConfig, StoreConfig } from "../../config/store-config.ts";

export interface StoreContext {
  readonly clock: Clock;
  readonly log: Logger;
}

export async function openStore(config: StoreConfig, context: StoreContext): Promise<Store> {
  const { clock, log } = context;
  switch (config.driver) {
    case "memory": {
      const { openMemoryStore } = await clock.external(import("../../store/memory/memory-store.ts"));
      return openMemoryStore({ clock });
    }
    case "embedded": {
      await clock.external(checkHomeFormat(config.dataDirectory));
      const { openEmbeddedStore } = await clock.external(import("../../store/embedded/embedded-store.ts"));
      return openEmbeddedStore({ directory: config.dataDirectory, clock, log });
    }
    case "etcd":
      return openEtcd(config, context);
  }
}

async function openEtcd({ servers, prefix, files = {} }: EtcdStoreConfig, { clock, log }: StoreContext): Promise<Store> {
  const { openEtcdStore } = await clock.external(import("../../store/etcd/etcd-store.ts"));
  const pem = await clock.external(readPemFiles(files));
  return openEtcdStore({
    endpoints: servers,
    clock,
    log,
    random: realRandom(),
    ...(Object.keys(pem).length === 0 ? {} : { tls: pem }),
    refusesLegacyKeys: true,
    ...(prefix === undefined ? {} : { root: prefix }),
  });
}

type PemFiles = NonNullable<EtcdStoreConfig["files"]>;

async function readPemFiles(files: PemFiles): Promise<{ readonly [Name in keyof PemFiles]: Uint8Array }> {
  const read = async ([name, path]: [string, string]) => [name, await readEtcdFile(name as keyof PemFiles, path)] as const;
  try {
    return Object.fromEntries(await Promise.all(Object.entries(files).map(read)));
  } catch (error) {
    throw new StoreError("Unusable", (error as Error).message, { cause: (error as Error).cause });
  }
}

const FLAGS: Readonly<Record<keyof PemFiles, string>> = { ca: "--etcd-cafile", certificate: "--etcd-certfile", key: "--etcd-keyfile" };

/** Otherwise a wrong file would show only as a certificate mismatch, as if the server were at fault. */
export async function readEtcdFile(name: keyof PemFiles, path: string): Promise<Uint8Array> {
  const bytes = await readFileFlagBytes(path, FLAGS[name]);
  const wanted = name === "key" ? "PRIVATE KEY-----" : "-----BEGIN CERTIFICATE-----";
  if (new TextDecoder().decode(bytes).includes(wanted)) return bytes;
  const what = name === "key" ? "private key" : "certificate";
  throw new Error(`Cannot use ${path}: it contains no PEM ${what}; set ${FLAGS[name]} to a file that does`);
}
