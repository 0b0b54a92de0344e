/** Validates the files that API server and store flags refer to before anything is started, so that all problems are reported at once. */
import type { ApiServerFlagValues } from "../../config/api-server-config.ts";
import { apiServerConfig, type ApiServerOptions } from "../../config/api-server-config.ts";
import { readAuditPolicyFile } from "./audit-log.ts";
import { checkApart, readDescription, readStaticTokenFile } from "./identity.ts";
import { fileCheck, pairFileChecks, problemsOfFiles, type FileCheck } from "../../cli/framework/check-files.ts";
import { openWebhookCredentials, readAdmissionConfigFile } from "./webhook-credentials.ts";
import { readEtcdFile } from "../store/open-store.ts";
import {
  KUBELET_CLIENT_FLAGS,
  PROXY_CLIENT_FLAGS,
  readProxyClientFiles,
  readAuthorities,
  readKubeletClientFiles,
  readServingFiles,
  readSigningKey,
  readVerifyingKeys,
  SERVING_FLAGS,
} from "../../config/certificate-files.ts";
import { etcdFiles, type StoreFlagValues } from "../../config/store-config.ts";
import { UnusableFiles } from "../../cli/framework/unusable-files.ts";

/** Rejects with UnusableFiles. */
export async function checkApiServerFiles(options: ApiServerOptions): Promise<void> {
  const problems = await problemsOfFiles(apiServerLooks(options));
  if (problems.length > 0) throw new UnusableFiles(problems);
}

/** For values on the command line, whatever else is wrong with them. */
export function clusterFileChecks(values: StoreFlagValues & ApiServerFlagValues): readonly FileCheck[] {
  const { "tls-cert-file": certificate, "tls-private-key-file": key } = values;
  const { "kubelet-client-certificate": clientCertificate, "kubelet-client-key": clientKey } = values;
  const { "proxy-client-cert-file": proxyCertificate, "proxy-client-key-file": proxyKey } = values;
  return [
    ...apiServerLooks(apiServerConfig(values, undefined)),
    // Files that require another flag are in no configuration.
    ...pairFileChecks({ certificate, key }, SERVING_FLAGS, readServingFiles),
    ...pairFileChecks({ certificate: clientCertificate, key: clientKey }, KUBELET_CLIENT_FLAGS, readKubeletClientFiles),
    ...pairFileChecks({ certificate: proxyCertificate, key: proxyKey }, PROXY_CLIENT_FLAGS, readProxyClientFiles),
    ...fileCheck(values["oidc-ca-file"], (path) => readAuthorities(path, "--oidc-ca-file")),
    ...Object.entries(etcdFiles(values)).flatMap(([name, named]) =>
      fileCheck(named, (path) => readEtcdFile(name as keyof ReturnType<typeof etcdFiles>, path)),
    ),
  ];
}

function apiServerLooks(options: ApiServerOptions): readonly FileCheck[] {
  const { serving, identity, kubelets, admissionConfigFile, proxyClientFiles, auditLog } = options;
  const { requestHeader, serviceAccount, oidc } = identity;
  const { certificateFiles: clientFiles } = kubelets;
  return [
    ...(serving.certificateFiles === undefined ? [] : pairFileChecks(serving.certificateFiles, SERVING_FLAGS, readServingFiles)),
    ...(clientFiles === undefined ? [] : pairFileChecks(clientFiles, KUBELET_CLIENT_FLAGS, readKubeletClientFiles)),
    ...(proxyClientFiles === undefined ? [] : pairFileChecks(proxyClientFiles, PROXY_CLIENT_FLAGS, readProxyClientFiles)),
    ...fileCheck(kubelets.authorityFile, (path) => readAuthorities(path, "--kubelet-certificate-authority")),
    ...fileCheck(admissionConfigFile, async (path) => {
      await openWebhookCredentials((await readAdmissionConfigFile(path)).webhookKubeconfigFile);
    }),
    ...fileCheck(auditLog?.policyFile, readAuditPolicyFile),
    ...fileCheck(identity.clientCaFile, (path) => readAuthorities(path, "--client-ca-file")),
    ...fileCheck(requestHeader.clientCaFile, (path) => readAuthorities(path, "--requestheader-client-ca-file")),
    ...fileCheck(requestHeader.clientCaFile, (proxies) => lookApart(identity, proxies)),
    ...fileCheck(serviceAccount.signingKeyFile, readSigningKey),
    ...serviceAccount.keyFiles.flatMap((named) => fileCheck(named, (path) => readVerifyingKeys([path]))),
    ...fileCheck(identity.tokenAuthFile, readStaticTokenFile),
    ...fileCheck(oidc?.caFile, (path) => readAuthorities(path, "--oidc-ca-file")),
    ...fileCheck(identity.authenticationConfigFile, (path) => readDescription(path, identity)),
  ];
}

async function lookApart({ clientCaFile, requestHeader: { allowedNames } }: ApiServerOptions["identity"], proxies: string): Promise<void> {
  const [look] = fileCheck(clientCaFile, async (clients) =>
    checkApart({
      clients: await readAuthorities(clients, "--client-ca-file"),
      proxies: await readAuthorities(proxies, "--requestheader-client-ca-file"),
      allowedNames,
    }),
  );
  await look?.();
}
