/** Authentication and authorization of a kubelet's HTTPS server, and its certificate, from flags: for kubelets and simulated nodes. */
import type { Client } from "../../client/client.ts";
import type { KubeletServerOptions } from "../../kubelet/server/kubelet-server.ts";
import type { KubeletServingFiles, KubeletServingValues } from "../../config/kubelet-flags.ts";
import type { CertificateWithKey } from "../../pki/certificates.ts";
import { readAuthorities, readServingFiles } from "../../config/certificate-files.ts";

export interface ServerAccess {
  /** PEM. */
  readonly clientAuthority?: string;
  /** Path of the bundle. */
  readonly clientAuthorityFile?: string;
  readonly anonymous?: boolean;
  readonly hasTokenReviews: boolean;
  readonly authorizationMode: "Webhook" | "AlwaysAllow";
}

/** Rejects with a message for the user if a file cannot be used. */
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

/** `client`: for TokenReview and SubjectAccessReview. */
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

/** The configured certificate. Undefined: none. */
export async function readCertificatePair(values: KubeletServingFiles): Promise<CertificateWithKey | undefined> {
  const [certificate, key] = [values["tls-cert-file"], values["tls-private-key-file"]];
  return certificate === undefined || key === undefined ? undefined : readServingFiles({ certificate, key });
}
