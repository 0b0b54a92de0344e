/**
 * Records the date of last use on a token Secret, so that the token cleaner can find unused ones. Written once a day per Secret, by the
 * server itself; a failed write does not affect the token.
 */
import { formatTime } from "../../../api/machinery/time.ts";
import type { KubeObject } from "../../../api/machinery/object.ts";
import type { AuthenticationContext } from "../../framework/authentication.ts";
import { LAST_USED_LABEL } from "../../../api/core/v1/secret/service-account-token.ts";
import { SECRETS } from "./verified-token.ts";

const DAY_MS = 24 * 60 * 60 * 1_000;

export class LastUse {
  readonly #context: AuthenticationContext;
  /** Writes in progress, by uid: of concurrent requests only the first writes. */
  readonly #writing = new Set<string>();

  constructor(context: AuthenticationContext) {
    this.#context = context;
  }

  /** undefined: nothing to write. Never rejects. */
  note(secret: KubeObject | undefined): Promise<void> | undefined {
    const { label, clock } = this.#context;
    if (secret === undefined || label === undefined) return undefined;
    const lastUsed = secret.metadata.labels?.[LAST_USED_LABEL];
    const today = dayOf(clock.now());
    // Another server's clock may be slightly ahead.
    if (lastUsed === today || lastUsed === dayOf(clock.now() + DAY_MS)) return undefined;
    const { uid = "" } = secret.metadata;
    if (this.#writing.has(uid)) return undefined;
    this.#writing.add(uid);
    return this.#write(secret, today).finally(() => this.#writing.delete(uid));
  }

  async #write({ metadata: { name, namespace = "" } }: KubeObject, today: string): Promise<void> {
    try {
      await this.#context.label?.(SECRETS, { namespace, name }, { [LAST_USED_LABEL]: today });
    } catch (error) {
      this.#context.log.error("Recording the last use of a Secret token failed", { secret: `${namespace}/${name}`, error });
    }
  }
}

/** "2026-01-31", in UTC. */
function dayOf(timeMs: number): string {
  return formatTime(timeMs).slice(0, 10);
}
