/**
 * Identities of controllers over HTTPS: each has a service account in kube-system, created if missing, and uses its tokens, which are valid
 * for an hour and renewed in time. So a controller has exactly the permissions of its role, as in one process.
 */
import { serviceAccounts } from "../api/core/v1/service-account.ts";
import { isReason } from "../api/machinery/status-error.ts";
import type { Clock } from "../base/clock.ts";
import type { Client } from "../client/client.ts";
import type { TokenSource } from "../client/kubeconfig/connection-config.ts";

const NAMESPACE = "kube-system";
/** Upstream's lifetime. */
const LIFETIME_SECONDS = 3_600;
/** Share of its lifetime after which a token is renewed: early enough for retries. */
const RENEW_AFTER = 0.8;

interface KnownToken {
  readonly token: string;
  /** Request time, by `clock.monotonic`. */
  readonly sinceMs: number;
}

export class ServiceAccountTokens implements TokenSource {
  readonly #client: Client;
  readonly #account: string;
  readonly #clock: Clock;
  #known: KnownToken | undefined;
  /** One request shared by all waiters. */
  #pending: Promise<string> | undefined;

  /** `client`: of a user that may create tokens. */
  constructor(options: { readonly client: Client; readonly account: string; readonly clock: Clock }) {
    this.#client = options.client;
    this.#account = options.account;
    this.#clock = options.clock;
  }

  token(): string | Promise<string> {
    if (this.#known !== undefined && this.#isYounger(this.#known, RENEW_AFTER)) return this.#known.token;
    this.#pending ??= this.#renewOrKeep().finally(() => (this.#pending = undefined));
    return this.#pending;
  }

  refused(token: string): void {
    if (this.#known?.token === token) this.#known = undefined;
  }

  /** True if less than this share of its lifetime has passed. */
  #isYounger({ sinceMs }: KnownToken, part: number): boolean {
    return this.#clock.monotonic() < sinceMs + LIFETIME_SECONDS * 1_000 * part;
  }

  async #renewOrKeep(): Promise<string> {
    try {
      return await this.#renew();
    } catch (error) {
      // The previous token is used until it expires; the next request retries.
      if (this.#known !== undefined && this.#isYounger(this.#known, 1)) return this.#known.token;
      throw error;
    }
  }

  async #renew(): Promise<string> {
    const sinceMs = this.#clock.monotonic();
    const token = await this.#request().catch(async (error: unknown) => {
      if (!isReason(error, "NotFound")) throw error;
      await this.#makeAccount();
      return this.#request();
    });
    this.#known = { token, sinceMs };
    return token;
  }

  async #request(): Promise<string> {
    const key = { namespace: NAMESPACE, name: this.#account };
    const asked = {
      apiVersion: "authentication.k8s.io/v1",
      kind: "TokenRequest",
      spec: { audiences: [], expirationSeconds: LIFETIME_SECONDS },
    };
    const { status } = (await this.#client.post(serviceAccounts, key, "token", asked)) as {
      readonly status: { readonly token: string };
    };
    return status.token;
  }

  async #makeAccount(): Promise<void> {
    try {
      const metadata = { namespace: NAMESPACE, name: this.#account };
      await this.#client.create(serviceAccounts, { apiVersion: "v1", kind: "ServiceAccount", metadata });
    } catch (error) {
      if (!isReason(error, "AlreadyExists")) throw error;
    }
  }
}
