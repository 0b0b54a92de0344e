/** Who may ask a kubelet's HTTPS server for what, as flags say it, and what it shows: for a kubelet and for simulated nodes. */
import type { Client } from "../../client/client.ts";
import type { KubeletServerOptions } from "../../kubelet/server/kubelet-server.ts";
import type { KubeletServingFiles, KubeletServingValues } from "../../config/kubelet-flags.ts";
import type { CertificateWithKey } from "../../pki/certificates.ts";
import { readAuthorities, readServingFiles } from "../../config/certificate-files.ts";

export interface ServerAccess {
  /** PEM. */
  readonly clientAuthority?: string;
  /** Where that was read. */
  readonly clientAuthorityFile?: string;
  readonly anonymous?: boolean;
  readonly hasTokenReviews: boolean;
  readonly authorizationMode: "Webhook" | "AlwaysAllow";
}

/** Rejects with one sentence if a file cannot be used. */
export async function readServerAccess(values: Omit<KubeletServingValues, "address" | "port">): Promise<ServerAccess> {
  const clientAuthorityFile = values["client-ca-file"];
  return {
    ...(clientAuthorityFile === undefined
      ? {}
      : { clientAuthorityFile, clientAuthority: await readAuthorities(clientAuthorityFile, "--client-ca-file") }),
    anonymous: values["anonymous-auth"],
    hasTokenReviews: values["authentication-token-webhook"],
    authorizationMode: values["authorization-mode"] === "AlwaysAllow" ? "AlwaysAllow" : "Webhook",
  };
}

/** `client`: of who asks the API whose a token is, and what its owner may. */
export function accessRules(access: ServerAccess, client: Client): Pick<KubeletServerOptions, "authentication" | "authorization"> {
  const { clientAuthority, anonymous, hasTokenReviews, authorizationMode } = access;
  return {
    authentication: {
      ...(clientAuthority === undefined ? {} : { clientAuthority }),
      ...(hasTokenReviews ? { tokenReviewer: client } : {}),
      ...(anonymous === undefined ? {} : { anonymous }),
    },
    authorization: authorizationMode === "AlwaysAllow" ? { mode: "AlwaysAllow" } : { mode: "Webhook", accessReviewer: client },
  };
}

/** The one that was given. Undefined: none was. */
export async function readCertificatePair(values: KubeletServingFiles): Promise<CertificateWithKey | undefined> {
  const [certificate, key] = [values["tls-cert-file"], values["tls-private-key-file"]];
  return certificate === undefined || key === undefined ? undefined : readServingFiles({ certificate, key });
}
