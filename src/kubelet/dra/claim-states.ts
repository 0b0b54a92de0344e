/**
 * Claims that are or may be prepared on this node, with the Pods that use them; durable, because a claim must be released by its driver
 * also if the kubelet died meanwhile. Written before a driver is called, so that a crash at any time leaves at most a claim that is released
 * once more.
 */
import { fileExists, readWhole } from "../../host/files/files.ts";
import { writePrivateText } from "../../host/files/private-files.ts";
import type { ClaimIdentity, PreparedDevice } from "./dra-driver.ts";

export interface ClaimState extends ClaimIdentity {
  /** Uids of Pods, sorted. */
  readonly podUids: readonly string[];
  /** The drivers of its devices, and what they prepared. Absent: not prepared yet. */
  readonly drivers: Readonly<Record<string, readonly PreparedDevice[]>>;
  readonly isPrepared: boolean;
}

interface Checkpoint {
  readonly version: "v1";
  readonly claims: readonly ClaimState[];
}

export class ClaimStates {
  readonly #path: string;
  /** By "namespace/name". */
  readonly #claims: Map<string, ClaimState>;
  #writing: Promise<void> = Promise.resolve();

  private constructor(path: string, claims: readonly ClaimState[]) {
    this.#path = path;
    this.#claims = new Map(claims.map((claim) => [keyOf(claim), claim]));
  }

  /** Rejects if the file exists and is damaged: devices would be leaked silently. */
  static async open(path: string): Promise<ClaimStates> {
    if (!(await fileExists(path))) return new ClaimStates(path, []);
    try {
      const { version, claims } = JSON.parse(new TextDecoder().decode(await readWhole(path))) as Checkpoint;
      if (version !== "v1" || !Array.isArray(claims)) throw new Error(`its version is ${JSON.stringify(version)}, not "v1"`);
      return new ClaimStates(path, claims);
    } catch (error) {
      const remedy = "remove it if no Pod with ResourceClaims runs on this node";
      throw new Error(`Cannot read the prepared ResourceClaims from ${path}: ${(error as Error).message}; ${remedy}`, { cause: error });
    }
  }

  get(namespace: string, name: string): ClaimState | undefined {
    return this.#claims.get(`${namespace}/${name}`);
  }

  all(): readonly ClaimState[] {
    return [...this.#claims.values()];
  }

  /** Visible at once; resolves when it is on disk. */
  set(claims: readonly ClaimState[]): Promise<void> {
    for (const claim of claims) this.#claims.set(keyOf(claim), claim);
    return this.#write();
  }

  delete(claims: readonly ClaimIdentity[]): Promise<void> {
    for (const claim of claims) this.#claims.delete(keyOf(claim));
    return this.#write();
  }

  /** One after the other; each writes the newest state. */
  #write(): Promise<void> {
    const write = async (): Promise<void> => {
      const checkpoint: Checkpoint = { version: "v1", claims: this.all() };
      await writePrivateText(this.#path, `${JSON.stringify(checkpoint)}\n`);
    };
    const result = this.#writing.then(write);
    this.#writing = result.catch(() => undefined);
    return result;
  }
}

function keyOf({ namespace, name }: ClaimIdentity): string {
  return `${namespace}/${name}`;
}
