import { deepEqual, equal, rejects } from "node:assert/strict";
import { test } from "node:test";
import { serviceAccounts } from "../api/core/v1/service-account.ts";
import { isReason, StatusError } from "../api/machinery/status-error.ts";
import type { Client } from "../client/client.ts";
import { driven } from "../testing/driven.ts";
import { given, type Given } from "../testing/given.ts";
import { ServiceAccountTokens } from "./service-account-tokens.ts";

const ACCOUNT = { namespace: "kube-system", name: "web-controller" };
const HOUR_MS = 3_600_000;

/** The real server, but for the token, which is signed elsewhere: "token 1", "token 2". Nothing is answered while `down` says why. */
class Issuer {
  readonly cluster: Given;
  readonly asked: unknown[] = [];
  down: Error | undefined;

  constructor(cluster: Given) {
    this.cluster = cluster;
  }

  tokens(): ServiceAccountTokens {
    const post: Client["post"] = async (kind, key, subresource, value) => {
      // As the server does: of an account that is not there it makes none.
      await this.cluster.client.get(kind, key);
      this.asked.push({ key, subresource, spec: value["spec"] });
      if (this.down !== undefined) throw this.down;
      return { status: { token: `token ${this.asked.length}` } };
    };
    const client = Object.assign(Object.create(this.cluster.client) as Client, {
      post,
      create: this.cluster.client.create.bind(this.cluster.client),
    });
    return new ServiceAccountTokens({ client, account: ACCOUNT.name, clock: this.cluster.clock });
  }

  /** The next token, however it comes. */
  async next(tokens: ServiceAccountTokens): Promise<string> {
    return driven(this.cluster.clock, Promise.resolve(tokens.token()));
  }
}

test("the service account is created if it is missing, and a token for an hour is requested", async () => {
  await using cluster = await given();
  const issuer = new Issuer(cluster);

  equal(await issuer.next(issuer.tokens()), "token 1");

  deepEqual(issuer.asked, [{ key: ACCOUNT, subresource: "token", spec: { audiences: [], expirationSeconds: 3_600 } }]);
  equal((await cluster.client.get(serviceAccounts, ACCOUNT)).metadata.name, "web-controller");
});

test("concurrent callers share one token request, and a known token is returned without waiting", async () => {
  await using cluster = await given();
  const issuer = new Issuer(cluster);
  const tokens = issuer.tokens();

  deepEqual(await Promise.all([issuer.next(tokens), tokens.token(), tokens.token()]), ["token 1", "token 1", "token 1"]);
  equal(tokens.token(), "token 1");
  equal(issuer.asked.length, 1);
});

test("a token is renewed after 80 % of its lifetime, and not before", async () => {
  await using cluster = await given();
  const issuer = new Issuer(cluster);
  const tokens = issuer.tokens();
  await issuer.next(tokens);

  await cluster.clock.advance(0.8 * HOUR_MS - 1);
  equal(await issuer.next(tokens), "token 1");
  await cluster.clock.advance(1);
  equal(await issuer.next(tokens), "token 2");
});

test("while renewal fails the previous token is used until it expires", async () => {
  await using cluster = await given();
  const issuer = new Issuer(cluster);
  const tokens = issuer.tokens();
  await issuer.next(tokens);
  issuer.down = new StatusError("ServiceUnavailable", "down");

  await cluster.clock.advance(0.9 * HOUR_MS);
  equal(await issuer.next(tokens), "token 1");
  await cluster.clock.advance(0.1 * HOUR_MS);
  await rejects(issuer.next(tokens), (error) => isReason(error, "ServiceUnavailable"));
  issuer.down = undefined;
  equal(await issuer.next(tokens), "token 4");
});

test("a rejected token is not used again; rejecting an unknown one has no effect", async () => {
  await using cluster = await given();
  const issuer = new Issuer(cluster);
  const tokens = issuer.tokens();
  await issuer.next(tokens);
  tokens.refused("token 0");
  equal(tokens.token(), "token 1");

  tokens.refused("token 1");

  equal(await issuer.next(tokens), "token 2");
});

test("a service account that is deleted meanwhile is created again", async () => {
  await using cluster = await given();
  const issuer = new Issuer(cluster);
  const tokens = issuer.tokens();
  await issuer.next(tokens);
  await cluster.client.delete(serviceAccounts, ACCOUNT);

  tokens.refused("token 1");

  equal(await issuer.next(tokens), "token 2");
});
