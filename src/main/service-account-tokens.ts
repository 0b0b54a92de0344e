/**
 * The identities of controllers over HTTPS: each has a service account in kube-system, which is made if it is not there, and shows tokens
 * of it that live for an hour and are renewed in time. So a controller may do what its role says and no more, as in one process.
 */
import { serviceAccounts } from "../api/core/v1/service-account.ts";
import { isReason } from "../api/machinery/status-error.ts";
import type { Clock } from "../base/clock.ts";
import type { Client } from "../client/client.ts";
import type { TokenSource } from "../client/https/connection-config.ts";

const NAMESPACE = "kube-system";
/** As upstream asks for. */
const LIFETIME_SECONDS = 3_600;
/** The part of its life after which a token is renewed: early enough to try again, late enough not to ask often. */
const RENEW_AFTER = 0.8;

interface KnownToken {
  readonly token: string;
  /** By `clock.monotonic`. */
  readonly renewAtMs: number;
}

export class ServiceAccountTokens implements TokenSource {
  readonly #client: Client;
  readonly #account: string;
  readonly #clock: Clock;
  #known: KnownToken | undefined;
  /** One request for all who wait. */
  #asking: Promise<string> | undefined;

  /** `client`: of whoever may make tokens. */
  constructor(options: { readonly client: Client; readonly account: string; readonly clock: Clock }) {
    this.#client = options.client;
    this.#account = options.account;
    this.#clock = options.clock;
  }

  token(): string | Promise<string> {
    if (this.#known !== undefined && this.#clock.monotonic() < this.#known.renewAtMs) return this.#known.token;
    this.#asking ??= this.#ask().finally(() => (this.#asking = undefined));
    return this.#asking;
  }

  refused(token: string): void {
    if (this.#known?.token === token) this.#known = undefined;
  }

  async #ask(): Promise<string> {
    const askedAtMs = this.#clock.monotonic();
    try {
      await this.#request(askedAtMs);
    } catch (error) {
      if (!isReason(error, "NotFound")) throw error;
      await this.#makeAccount();
      await this.#request(askedAtMs);
    }
    return this.#known?.token ?? "";
  }

  async #request(askedAtMs: number): Promise<void> {
    const key = { namespace: NAMESPACE, name: this.#account };
    const asked = {
      apiVersion: "authentication.k8s.io/v1",
      kind: "TokenRequest",
      spec: { audiences: [], expirationSeconds: LIFETIME_SECONDS },
    };
    const { status } = (await this.#client.post(serviceAccounts, key, "token", asked)) as unknown as {
      readonly status: { readonly token: string };
    };
    this.#known = { token: status.token, renewAtMs: askedAtMs + LIFETIME_SECONDS * 1_000 * RENEW_AFTER };
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
