/**
 * `serviceaccounts/token`: issues a token for a ServiceAccount, bound as requested. Nothing is stored, so a dry run issues a token, too, as
 * upstream. Claims and verification are in authentication/service-account-token.
 */
import type { TokenRequest, TokenRequestSpec } from "../../../api/generated/authentication.k8s.io/v1.ts";
import {
  defaultTokenRequest,
  validateTokenRequest,
  validateTokenRequestTarget,
} from "../../../api/authentication.k8s.io/v1/token-request.ts";
import type { JsonObject, KubeObject } from "../../../api/machinery/object.ts";
import { conflict, invalidObject, notFound, StatusError } from "../../../api/machinery/status-error.ts";
import { formatTime } from "../../../api/machinery/time.ts";
import { writeToken } from "../../../api/machinery/codec/json-web-token-writer.ts";
import type { ActionCall } from "../../framework/extension.ts";
import type { ServiceAccountTokens } from "../../framework/identity.ts";
import type { Outcome } from "../../framework/outcome.ts";
import type { RequestContext } from "../../framework/request.ts";
import type { ExtensionFactory, ServerContext } from "../../framework/server-context.ts";
import { newUid } from "../../../base/uuid.ts";
import { findBoundObjects } from "./bound-object.ts";
import { boundPayload } from "../../shared/bound-claims.ts";

const TOKEN_REQUEST = { group: "authentication.k8s.io", kind: "TokenRequest" };

/** The kubelet's expiry for automatically mounted tokens: an hour, and seven seconds as a mark. */
const EXTENDED_EXPIRATION_SECONDS = 60 * 60 + 7;
/** Extended lifetime of such tokens, for programs that read their token only once. */
const EXTENSION_SECONDS = 365 * 24 * 60 * 60;

export const serviceAccountExtension: ExtensionFactory = (server) => ({
  group: "",
  plural: "serviceaccounts",
  actions: { token: (call) => answerTokenRequest(server, call) },
});

async function answerTokenRequest(server: ServerContext, { endpoint, request, object }: ActionCall): Promise<Outcome> {
  const name = { namespace: request.namespace, name: request.name };
  const wanted = defaultTokenRequest(object as TokenRequest);
  const [wrong] = validateTokenRequestTarget(wanted, name);
  if (wrong !== undefined) throw invalidObject(TOKEN_REQUEST, name.name, [wrong]);
  const account = await endpoint.storage.get(name);
  if (account === undefined) throw notFound(endpoint.name, name.name);
  checkUid(wanted, account.object);
  const errors = [...validateTokenRequest(wanted)];
  if (errors.length > 0) throw invalidObject(TOKEN_REQUEST, "", errors);
  const settings = server.identity.serviceAccounts;
  if (settings === undefined)
    throw new StatusError("ServiceUnavailable", "service account tokens cannot be issued: the server has no signing key");
  const value = await issue({ server, settings }, { wanted, account: account.object, context: request.context });
  return { is: "value", code: 201, schema: "io.k8s.api.authentication.v1.TokenRequest", value };
}

/** A uid in the request must match: a recreated account gets no token. */
function checkUid({ metadata }: TokenRequest, account: KubeObject): void {
  const { uid = "" } = metadata;
  if (uid === "" || uid === account.metadata.uid) return;
  const why = `the UID in the token request (${uid}) does not match the UID of the service account (${account.metadata.uid})`;
  throw conflict({ group: TOKEN_REQUEST.group, plural: TOKEN_REQUEST.kind }, account.metadata.name, why);
}

interface Issuer {
  readonly server: ServerContext;
  readonly settings: ServiceAccountTokens;
}

interface Wanted {
  readonly wanted: TokenRequest;
  readonly account: KubeObject;
  readonly context: RequestContext;
}

async function issue({ server, settings }: Issuer, { wanted, account, context }: Wanted): Promise<JsonObject> {
  const { clock, objects, random } = server;
  const { name, namespace = "", uid = "" } = account.metadata;
  const { audiences: asked = [], boundObjectRef } = wanted.spec ?? {};
  const bound = await findBoundObjects(objects, { namespace, name }, boundObjectRef);
  const nowMs = clock.now();
  const audiences = asked.length === 0 ? settings.audiences : asked;
  const expirationSeconds = shortened(wanted.spec, settings, context);
  const isExtended =
    settings.extendsExpiration &&
    bound.pod !== undefined &&
    expirationSeconds === EXTENDED_EXPIRATION_SECONDS &&
    audiences.every((audience) => settings.audiences.includes(audience));
  const payload = boundPayload({
    issuer: settings.issuers[0] ?? "",
    audiences,
    id: newUid(random),
    nowMs,
    expirationSeconds: isExtended ? EXTENSION_SECONDS : expirationSeconds,
    ...(isExtended ? { warnAfterSeconds: expirationSeconds } : {}),
    namespace,
    serviceAccount: { name, uid },
    ...bound,
  });
  const { kind, apiVersion, metadata } = wanted;
  return {
    kind,
    apiVersion,
    metadata: { ...(metadata as JsonObject), name, namespace, uid, creationTimestamp: formatTime(nowMs) },
    // Upstream includes an explicit null.
    spec: { audiences, expirationSeconds, boundObjectRef: boundObjectRef ?? null },
    status: {
      token: writeToken(payload, { signer: settings.signer, keyId: settings.signerKeyId }),
      // The expiry for the client, which precedes the token's if that is extended.
      expirationTimestamp: formatTime(nowMs + expirationSeconds * 1_000),
    },
  };
}

/** The requested lifetime, capped at the maximum. */
function shortened(
  { expirationSeconds = 0 }: TokenRequestSpec = {},
  { maxExpirationSeconds }: ServiceAccountTokens,
  context: RequestContext,
): number {
  if (maxExpirationSeconds === undefined || expirationSeconds <= maxExpirationSeconds) return expirationSeconds;
  context.warn(`requested expiration of ${expirationSeconds} seconds shortened to ${maxExpirationSeconds} seconds`);
  return maxExpirationSeconds;
}
