/**
 * Deterministic certificates and keys, for virtual time: fixed keys, times and signatures. These keys are public, so they must never be
 * used where others can connect.
 */
import { p256Key, type P256Key } from "../api/machinery/x509/p256-signer.ts";
import type { CertificateMaker } from "./certificates.ts";
import { missingFiles, type PkiFiles } from "./complete-pki.ts";
import { memoryPlace, Pki } from "./pki.ts";

/** Valid at any time of a test or simulation, so that nothing is ever renewed. */
const FROM_MS = Date.UTC(2020, 0, 1);
const TO_MS = Date.UTC(2120, 0, 1);

/** Keys are multiples of this arbitrary number. */
const KEY_BASE = 0x6b38_7473_0000_0001_0000_0001_0000_0001n;

/** Created once per process: pure arithmetic takes a few milliseconds per certificate. Without the serving certificate. */
let common: PkiFiles | undefined;

/** Serving certificate of the last names: clusters of one process usually have the same. */
let last: { readonly names: string; readonly files: PkiFiles } | undefined;

/** Independent of time and of earlier calls. `servingNames`: as in PkiOptions. */
export function fixedPki(servingNames: readonly string[] = ["localhost", "127.0.0.1"]): Pki {
  const names = JSON.stringify(servingNames);
  if (last?.names !== names) last = { names, files: filesFor(servingNames) };
  const { files } = last;
  return new Pki({ place: memoryPlace(files), maker: new FixedMaker(LATER_KEYS), servingNames }, files);
}

function filesFor(servingNames: readonly string[]): PkiFiles {
  common ??= commonFiles();
  return { ...common, ...missingFiles(common, { maker: new FixedMaker(SERVING_KEYS), servingNames, nowMs: FROM_MS }) };
}

function commonFiles(): PkiFiles {
  const {
    "apiserver.crt": _certificate,
    "apiserver.key": _key,
    ...files
  } = missingFiles({}, { maker: new FixedMaker(1n), servingNames: [], nowMs: FROM_MS });
  return files;
}

/** Number of the first key that is not shared by all. */
const SERVING_KEYS = 100n;
/** Keys created while a cluster runs. */
const LATER_KEYS = SERVING_KEYS + 1n;

const keys = new Map<string, P256Key>();

class FixedMaker implements CertificateMaker {
  #next: bigint;

  constructor(first: bigint) {
    this.#next = first;
  }

  newKey(): P256Key {
    const key = p256Key(KEY_BASE * this.#next++);
    keys.set(key.pem, key);
    return key;
  }

  readKey(pem: string) {
    const key = keys.get(pem);
    if (key === undefined) throw new Error("it contains no key that k8ts generated");
    return key.signer;
  }

  newSerialNumber(): Uint8Array {
    return Uint8Array.of(1, Number(this.#next));
  }

  /** There are no others. */
  isSignedBy(): boolean {
    return true;
  }

  validity() {
    return { fromMs: FROM_MS, toMs: TO_MS };
  }
}
