/** Asks the API who a credential belongs to, by a SelfSubjectReview. */
import { JSON_TYPE } from "../../api/machinery/codec/media-type.ts";
import type { Exchange, Peer } from "../../apiserver/framework/exchange.ts";
import { exchangeConnection } from "../data/exchange-connection.ts";
import type { Credential } from "./credential.ts";

interface SelfSubjectReview {
  readonly status?: { readonly userInfo?: { readonly username?: string; readonly groups?: readonly string[] } };
}

/** The user name. Undefined: the credential is not accepted, or the user is anonymous. */
export async function whoIs(exchange: Exchange, { authorization, certificate }: Credential, from: Peer): Promise<string | undefined> {
  const { certificate: _shown, ...peer } = from;
  const api = exchangeConnection({
    exchange,
    headers: authorization === undefined ? {} : { authorization },
    peer: certificate === undefined ? peer : { ...peer, certificate },
  });
  const response = await api.send({
    method: "POST",
    path: "/apis/authentication.k8s.io/v1/selfsubjectreviews",
    contentType: JSON_TYPE,
    body: JSON.stringify({ apiVersion: "authentication.k8s.io/v1", kind: "SelfSubjectReview" }),
  });
  if (response.code !== 201) return undefined;
  const review = JSON.parse(new TextDecoder().decode(await response.bytes())) as SelfSubjectReview;
  const { username, groups = [] } = review.status?.userInfo ?? {};
  return groups.includes("system:unauthenticated") ? undefined : username;
}
