/** Opens the store that a configuration asks for. Each driver is loaded only if it is the one. */
import type { Clock } from "../base/clock.ts";
import type { Logger } from "../base/logger.ts";
import { readWhole } from "../host/files.ts";
import { realRandom } from "../host/real-random.ts";
import type { Store } from "../store/store.ts";
import { StoreError } from "../store/store-error.ts";
import type { EtcdStoreConfig, StoreConfig } from "./store-config.ts";

export interface StoreContext {
  readonly clock: Clock;
  readonly log: Logger;
}

export async function openStore(config: StoreConfig, context: StoreContext): Promise<Store> {
  const { clock, log } = context;
  switch (config.driver) {
    case "memory": {
      const { openMemoryStore } = await clock.external(import("../store/memory/memory-store.ts"));
      return openMemoryStore({ clock });
    }
    case "embedded": {
      const { openEmbeddedStore } = await clock.external(import("../store/embedded/embedded-store.ts"));
      return openEmbeddedStore({ directory: config.dataDirectory, clock, log });
    }
    case "etcd":
      return openEtcd(config, context);
  }
}

async function openEtcd({ servers, prefix, files = {} }: EtcdStoreConfig, { clock, log }: StoreContext): Promise<Store> {
  const { openEtcdStore } = await clock.external(import("../store/etcd/etcd-store.ts"));
  const pem = await clock.external(readPemFiles(files));
  return openEtcdStore({
    endpoints: servers,
    clock,
    log,
    random: realRandom(),
    ...(Object.keys(pem).length === 0 ? {} : { tls: pem }),
    ...(prefix === undefined ? {} : { root: prefix }),
  });
}

type PemFiles = NonNullable<EtcdStoreConfig["files"]>;

async function readPemFiles(files: PemFiles): Promise<{ readonly [Name in keyof PemFiles]: Uint8Array }> {
  const read = async ([name, path]: [string, string]) => {
    try {
      return [name, await readWhole(path)] as const;
    } catch (error) {
      throw new StoreError("Unusable", `Cannot read ${path}: ${(error as Error).message}; give a file that this user can read`, {
        cause: error,
      });
    }
  };
  const contents = await Promise.all(Object.entries(files).map(read));
  for (const [name, bytes] of contents) checkPem(name as keyof PemFiles, files[name as keyof PemFiles] ?? "", bytes);
  return Object.fromEntries(contents);
}

/** A wrong file would otherwise only be seen as a certificate that does not fit, and the server be blamed for it. */
function checkPem(name: keyof PemFiles, path: string, bytes: Uint8Array): void {
  const wanted = name === "key" ? "PRIVATE KEY-----" : "-----BEGIN CERTIFICATE-----";
  if (new TextDecoder().decode(bytes).includes(wanted)) return;
  throw new StoreError("Unusable", `Cannot use ${path}: it holds no ${name === "key" ? "private key" : "certificate"} in PEM form`);
}
