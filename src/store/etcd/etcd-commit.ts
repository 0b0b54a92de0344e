/**
 * Commits as etcd transactions: compare, then all operations, or else look at what is there.
 *
 * When the connection is lost on the way nobody knows whether the transaction was carried out, and it may even be carried out
 * later. What is safe then:
 * - With a precondition "at", the same transaction can be sent again: a revision never comes back, so of all attempts at most
 *   one is carried out, now or later.
 * - With "absent" it cannot: if the first attempt created the key and somebody deleted it since, a second one would bring it
 *   back. But one can look: if what was to be written is there, the commit happened.
 * - In both cases "what was to be written is there" means all puts, byte for byte, at one revision. So bytes that two
 *   processes would write alike must not decide between them.
 * - In all other cases the answer is "Uncertain". So it is for deletes: that a key is gone does not say who deleted it.
 */
import type { Encodable } from "../../base/protobuf.ts";
import type { CommitResult, Entry, FailedPrecondition, Operation, Precondition, PutOperation } from "../store.ts";
import { closed, StoreError } from "../store-error.ts";
import { holds } from "../operations.ts";
import type { Attempt, EtcdCluster, EtcdTimeouts } from "./etcd-cluster.ts";
import { refusalError } from "./etcd-failure.ts";
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
import { equalBytes, type KeySpace } from "./key-space.ts";

type TxnRequest = Encodable<(typeof TXN)["request"]>;

export interface EtcdCommitOptions {
  readonly cluster: EtcdCluster;
  readonly keys: KeySpace;
  readonly timeouts: EtcdTimeouts;
  readonly entryOf: (kv: KeyValue) => Entry;
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
  /** Why nobody knows whether it happened; undefined while it is known that it did not. */
  #doubt: { readonly cause: unknown } | undefined;

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
      if (this.#doubt === undefined) {
        signal?.throwIfAborted();
        if (cluster.closing.aborted) throw closed(this.#action);
      }
      const attempt = await this.#attempt(this.#doubt === undefined || this.#isRepeatable() ? request : this.#lookingOnly());
      const result = this.#judge(attempt);
      if (result !== undefined) return result;
      // Once in doubt, neither the caller nor closing stops the search for the truth: the commit may have been accepted.
      const stop = this.#doubt !== undefined ? NEVER : signal === undefined ? cluster.closing : AbortSignal.any([signal, cluster.closing]);
      if (!(await retry.again(1, stop)) && !stop.aborted)
        throw this.#doubt === undefined ? cluster.unavailable(this.#action) : this.#uncertain();
    }
  }

  #attempt(request: TxnRequest): Promise<Attempt<TxnResponse>> {
    const timeoutMs = this.#options.timeouts.commitAttemptMs;
    return this.#options.cluster.attempt(timeoutMs, (endpoint) => endpoint.call(TXN, request, { timeoutMs }));
  }

  /** The result, if there is one; undefined if it must be tried again. Throws if trying again does not help. */
  #judge(attempt: Attempt<TxnResponse>): CommitResult | undefined {
    if (!attempt.answered) {
      const { failure } = attempt;
      if (failure.kind === "refused") throw this.#doubt === undefined ? refusalError(this.#action, failure) : this.#uncertain();
      if (failure.carriedOut === "perhaps") this.#doubt ??= { cause: failure.cause };
      return undefined;
    }
    const { response } = attempt;
    const found = this.#found(response);
    if (this.#doubt === undefined || (response.succeeded && this.#isRepeatable())) {
      return response.succeeded ? { committed: true, revision: revisionOf(response) } : { committed: false, failed: this.#failed(found) };
    }
    const revision = this.#revisionIfWritten(found);
    if (revision === undefined) throw this.#uncertain();
    return { committed: true, revision };
  }

  #transaction(): TxnRequest {
    const { keys } = this.#options;
    return {
      compare: this.#operations.flatMap(({ key, precondition }) => (precondition ? [comparisonOf(keys.encode(key), precondition)] : [])),
      success: this.#operations.map((operation) => {
        const key = keys.encode(operation.key);
        return operation.type === "put" ? { put: { key, value: operation.value.bytes() } } : { deleteRange: { key } };
      }),
      failure: this.#looks(),
    };
  }

  #lookingOnly(): TxnRequest {
    return { success: this.#looks() };
  }

  /** Reads of all keys of the commit, in the order of the operations. */
  #looks(): NonNullable<TxnRequest["failure"]> {
    return this.#operations.map(({ key }) => ({ range: { key: this.#options.keys.encode(key) } }));
  }

  /** What is under each key, in the order of the operations; meaningless if the response is that of a success. */
  #found({ responses }: TxnResponse): readonly (KeyValue | undefined)[] {
    return this.#operations.map((_, index) => responses[index]?.range?.kvs[0]);
  }

  #failed(found: readonly (KeyValue | undefined)[]): readonly FailedPrecondition[] {
    return this.#operations.flatMap(({ key, precondition }, operation) => {
      const kv = found[operation];
      if (holds(precondition, kv && { revision: kv.modRevision })) return [];
      return [{ operation, key, found: kv && this.#options.entryOf(kv) }];
    });
  }

  #isRepeatable(): boolean {
    return this.#operations.some(({ precondition }) => precondition?.is === "at");
  }

  /** The revision at which everything that was to be written was written; undefined if it was not, or that cannot be told. */
  #revisionIfWritten(found: readonly (KeyValue | undefined)[]): number | undefined {
    if (!this.#operations.some(({ precondition }) => precondition?.is === "at" || precondition?.is === "absent")) return undefined;
    let revision: number | undefined;
    for (const [index, operation] of this.#operations.entries()) {
      if (operation.type === "delete") continue; // If the puts were carried out, so were the deletes.
      const kv = found[index];
      if (kv === undefined || !isResultOf(operation, kv)) return undefined;
      revision ??= kv.modRevision;
      if (kv.modRevision !== revision) return undefined;
    }
    return revision;
  }

  #uncertain(): StoreError {
    const cause = this.#doubt?.cause;
    const why = cause instanceof Error ? cause.message : String(cause);
    return new StoreError(
      "Uncertain",
      `Cannot say whether it worked to ${this.#action}: the connection to etcd was lost (${why}); look again`,
      {
        cause,
      },
    );
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

const NEVER = new AbortController().signal;
