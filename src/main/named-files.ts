/**
 * Looks at every file that flags name, before anything is started: what is wrong with any of them is told at once. They are read again
 * by who uses them.
 */
import { isPipe } from "../host/files.ts";
import type { ApiServerOptions } from "./apiserver-config.ts";
import { readDescription, readStaticTokenFile } from "./identity.ts";
import { readAuthorities, readKubeletClientFiles, readServingFiles, readSigningKey, readVerifyingKeys } from "./pki/given-files.ts";
import { UnusableFiles } from "./unusable-files.ts";

/** Rejects with UnusableFiles. */
export async function checkNamedFiles({ serving, identity, kubelets }: ApiServerOptions): Promise<void> {
  const { requestHeader, serviceAccount, oidc } = identity;
  const looks: readonly Promise<unknown>[] = [
    look(serving.certificateFiles, readServingFiles),
    look(kubelets.certificateFiles, readKubeletClientFiles),
    look(kubelets.authorityFile, (path) => readAuthorities(path, "--kubelet-certificate-authority")),
    look(identity.clientCaFile, (path) => readAuthorities(path, "--client-ca-file")),
    look(requestHeader.clientCaFile, (path) => readAuthorities(path, "--requestheader-client-ca-file")),
    look(serviceAccount.signingKeyFile, readSigningKey),
    ...serviceAccount.keyFiles.map((named) => look(named, (path) => readVerifyingKeys([path]))),
    look(identity.tokenAuthFile, readStaticTokenFile),
    look(oidc?.caFile, (path) => readAuthorities(path, "--oidc-ca-file")),
    look(identity.authenticationConfigFile, (path) => readDescription(path, identity)),
  ];
  const problems = (await Promise.allSettled(looks)).flatMap((result) =>
    result.status === "rejected" ? [(result.reason as Error).message] : [],
  );
  if (problems.length > 0) throw new UnusableFiles(problems);
}

/** What comes through a pipe can be read only once, and is left to who uses it. */
async function look<T extends Named>(named: T | undefined, read: (named: T) => Promise<unknown>): Promise<unknown> {
  if (named === undefined) return undefined;
  const paths = typeof named === "string" ? [named] : Object.values(named);
  const isPiped = (await Promise.all(paths.map(isPipe))).includes(true);
  return isPiped ? undefined : read(named);
}

type Named = string | Readonly<Record<"certificate" | "key", string>>;
