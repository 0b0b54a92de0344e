/**
 * Commits as etcd transactions: compare, then all operations, or else read the current entries.
 *
 * When the connection is lost the outcome is unknown, and the transaction may even be executed later. What is safe then:
 * - With a precondition "at", the same transaction can be retried: a revision never returns, so that at most one attempt is
 *   executed, now or later.
 * - With "absent" it cannot: if the first attempt created the key and another client has deleted it since, a retry would create it
 *   again. But it can be checked: if the written values are present, the commit happened.
 * - In both cases "present" means all puts, byte for byte, at one revision. So bytes that two processes would write alike must
 *   not decide between them.
 * - In all other cases the outcome is "Uncertain". So it is for deletes: a missing key does not show which client deleted it.
 * And etcd reports "database space exceeded" both when it rejects a write and when it has just executed the one that exceeded the
 * quota, so that after it, too, the current entries are read before "Full" is reported.
 */
import type { Encodable } from "../../base/protobuf/messages.ts";
import type { CommitResult, Entry, FailedPrecondition, Operation, Precondition, PutOperation } from "../store.ts";
import { closed, StoreError } from "../store-error.ts";
import { EXPIRY_PREFIX } from "../expiry-record.ts";
import { holds } from "../operations.ts";
import type { Attempt, EtcdCluster, EtcdTimeouts } from "./etcd-cluster.ts";
import { explain, refusalError, type Failure } from "./etcd-failure.ts";
import {
  COMPARE_EQUAL,
  COMPARE_GREATER,
  TARGET_CREATE_REVISION,
  TARGET_MOD_REVISION,
  TXN,
  type KeyValue,
  type TxnResponse,
} from "./etcd-messages.ts";
import { revisionOf } from "./etcd-reader.ts";
import { equalBytes } from "../value.ts";
import type { KeySpace } from "./key-space.ts";

type TxnRequest = Encodable<(typeof TXN)["request"]>;

export interface EtcdCommitOptions {
  readonly cluster: EtcdCluster;
  readonly keys: KeySpace;
  readonly timeouts: EtcdTimeouts;
  readonly entryOf: (kv: KeyValue) => Entry;
  /** Provides the leases for expiring keys and their expiry records. */
  readonly lease?: bigint | undefined;
}

/** `operations` have been prepared (store/operations.ts). */
export async function commitToEtcd(
  options: EtcdCommitOptions,
  operations: readonly Operation[],
  signal?: AbortSignal,
): Promise<CommitResult> {
  const commit = new Commit(options, operations);
  return commit.run(signal);
}

class Commit {
  readonly #options: EtcdCommitOptions;
  readonly #operations: readonly Operation[];
  readonly #action: string;
  /** Why the outcome is unknown; undefined while no attempt was lost. */
  #doubt: { readonly cause: unknown } | undefined;
  /** The error if it turns out not to have happened, after etcd reported that it is full. */
  #full: StoreError | undefined;

  constructor(options: EtcdCommitOptions, operations: readonly Operation[]) {
    this.#options = options;
    this.#operations = operations;
    this.#action = `commit ${operations[0]?.key}${operations.length > 1 ? ` and ${operations.length - 1} more` : ""}`;
  }

  async run(signal: AbortSignal | undefined): Promise<CommitResult> {
    const { cluster, timeouts } = this.#options;
    const retry = cluster.retry(timeouts.commitMs);
    const request = this.#transaction();
    for (;;) {
      if (!this.#mayHaveHappened) {
        signal?.throwIfAborted();
        if (cluster.closing.aborted) throw closed(this.#action);
      }
      const looks = this.#full !== undefined || (this.#doubt !== undefined && !this.#isRepeatable);
      const attempt = await this.#attempt(looks ? { success: this.#looks() } : request, retry.remainingMs);
      const result = attempt.answered ? this.#judgeAnswer(attempt.response, looks) : this.#judgeFailure(attempt.failure, looks);
      if (result !== undefined) return result;
      // Once it may have happened, neither the caller nor closing cancels finding out: it may have been accepted.
      const stop = this.#mayHaveHappened ? NEVER : signal === undefined ? cluster.closing : AbortSignal.any([signal, cluster.closing]);
      if ((await retry.again(1, stop)) || stop.aborted) continue;
      throw this.#mayHaveHappened ? this.#uncertain() : cluster.unavailable(this.#action);
    }
  }

  get #mayHaveHappened(): boolean {
    return this.#doubt !== undefined || this.#full !== undefined;
  }

  get #isRepeatable(): boolean {
    return this.#operations.some(({ precondition }) => precondition?.is === "at");
  }

  /** Whether finding the written values proves that this commit wrote them. */
  get #isConclusive(): boolean {
    return this.#operations.some(
      ({ type, precondition }) => type === "put" && (precondition?.is === "at" || precondition?.is === "absent"),
    );
  }

  #attempt(request: TxnRequest, remainingMs: number): Promise<Attempt<TxnResponse>> {
    const { commitAttemptMs, repeatableAttemptMs } = this.#options.timeouts;
    const timeoutMs = Math.min(remainingMs, this.#isRepeatable ? repeatableAttemptMs : commitAttemptMs);
    return this.#options.cluster.attempt(timeoutMs, (endpoint) => endpoint.call(TXN, request, { timeoutMs }));
  }

  /** Throws if a retry does not help. */
  #judgeFailure(failure: Failure, looked: boolean): undefined {
    if (failure.kind === "lost") {
      if (failure.carriedOut === "perhaps" && !looked) this.#doubt ??= { cause: failure.cause };
    } else if (failure.reason === "Full" && !looked) {
      this.#full = refusalError(this.#action, failure);
    } else {
      throw this.#mayHaveHappened ? this.#uncertain() : refusalError(this.#action, failure);
    }
    return undefined;
  }

  #judgeAnswer(response: TxnResponse, looked: boolean): CommitResult {
    if (response.succeeded && !looked) return { committed: true, revision: revisionOf(response) };
    const found = this.#operations.map((_, index) => response.responses[index]?.range?.kvs[0]);
    if (!this.#mayHaveHappened) return { committed: false, failed: this.#failed(found) };

    const revision = this.#writtenAt(found);
    if (revision !== undefined && this.#isConclusive) return { committed: true, revision };
    if (revision === undefined && this.#doubt === undefined && this.#full !== undefined) throw this.#full;
    throw this.#uncertain();
  }

  #transaction(): TxnRequest {
    const { keys, lease } = this.#options;
    return {
      compare: this.#operations.flatMap(({ key, precondition }) => (precondition ? [comparisonOf(keys.encode(key), precondition)] : [])),
      success: this.#operations.map((operation) => {
        const key = keys.encode(operation.key);
        if (operation.type === "delete") return { deleteRange: { key } };
        const attached = lease !== undefined && doesExpire(operation) ? { lease } : {};
        return { put: { key, value: operation.value.bytes(), ...attached } };
      }),
      failure: this.#looks(),
    };
  }

  /** Reads of all keys of the commit, in the order of the operations. */
  #looks(): NonNullable<TxnRequest["failure"]> {
    return this.#operations.map(({ key }) => ({ range: { key: this.#options.keys.encode(key) } }));
  }

  #failed(found: readonly (KeyValue | undefined)[]): readonly FailedPrecondition[] {
    return this.#operations.flatMap(({ key, precondition }, operation) => {
      const kv = found[operation];
      if (holds(precondition, kv && { revision: kv.modRevision })) return [];
      return [{ operation, key, found: kv && this.#options.entryOf(kv) }];
    });
  }

  /** The single revision at which all puts are present; undefined if they are not. */
  #writtenAt(found: readonly (KeyValue | undefined)[]): number | undefined {
    let revision: number | undefined;
    for (const [index, operation] of this.#operations.entries()) {
      if (operation.type === "delete") continue; // If the puts were executed, so were the deletes.
      const kv = found[index];
      if (kv === undefined || !isResultOf(operation, kv)) return undefined;
      revision ??= kv.modRevision;
      if (kv.modRevision !== revision) return undefined;
    }
    return revision;
  }

  #uncertain(): StoreError {
    const cause = this.#doubt?.cause ?? this.#full;
    const message = `Cannot say whether it worked to ${this.#action}: ${explain(cause)}; look at what is there`;
    return new StoreError("Uncertain", message, { cause });
  }
}

function comparisonOf(key: Uint8Array, precondition: Precondition): Encodable<(typeof TXN)["request"]["fields"]["compare"]["type"]> {
  switch (precondition.is) {
    case "absent":
      return { key, target: TARGET_CREATE_REVISION, result: COMPARE_EQUAL, createRevision: 0 };
    case "exists":
      return { key, target: TARGET_CREATE_REVISION, result: COMPARE_GREATER, createRevision: 0 };
    case "at":
      return { key, target: TARGET_MOD_REVISION, result: COMPARE_EQUAL, modRevision: precondition.revision };
  }
}

/** Whether `kv` can be what `put` wrote when its precondition held. */
function isResultOf({ value, precondition }: PutOperation, kv: KeyValue): boolean {
  const isCreation = kv.createRevision === kv.modRevision;
  if (precondition?.is === "absent" && !isCreation) return false;
  if (precondition?.is === "exists" && isCreation) return false;
  if (precondition?.is === "at" && (isCreation || kv.modRevision <= precondition.revision)) return false;
  return equalBytes(kv.value, value.bytes());
}

/** Also for the record of an expiring key. */
export function doesExpire({ key, expiresAtMs }: PutOperation): boolean {
  return expiresAtMs !== undefined || key.startsWith(EXPIRY_PREFIX);
}

const NEVER = new AbortController().signal;
