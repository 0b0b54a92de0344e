import { deepEqual } from "node:assert/strict";
import { describe, test } from "node:test";
import { DEFAULT_API_SERVER_CONFIG } from "../apiserver/framework/api-server-config.ts";
import { apiServerFlags, apiServerOptions, DEFAULT_SERVING_CONFIG } from "./api-server-config.ts";
import { parseArguments } from "../cli/framework/flags.ts";
import { DEFAULT_IDENTITY_CONFIG } from "./identity-config.ts";
import type { StoreConfig } from "./store-config.ts";

function optionsOf(words: string, store: StoreConfig) {
  const { values, problems } = parseArguments({ flags: apiServerFlags, arguments: {} }, words === "" ? [] : words.split(" "));
  deepEqual(problems, []);
  return apiServerOptions(values, store);
}

const MEMORY: StoreConfig = { driver: "memory" };

test("without flags the defaults apply, and a store in memory writes no files", () => {
  deepEqual(optionsOf("", MEMORY), {
    ok: true,
    options: {
      serving: DEFAULT_SERVING_CONFIG,
      api: DEFAULT_API_SERVER_CONFIG,
      eventTtlMs: 3_600_000,
      identity: DEFAULT_IDENTITY_CONFIG,
      kubelets: {},
    },
  });
});

test("files are in the data directory, unless flags set their paths", () => {
  const store: StoreConfig = { driver: "embedded", dataDirectory: "/data" };
  const places = (words: string) => {
    const parsed = optionsOf(words, store);
    if (!parsed.ok) return parsed;
    const { certificateDirectory, certificateFiles, kubeconfig } = parsed.options.serving;
    return { certificateDirectory, certificateFiles, kubeconfig };
  };
  deepEqual(places(""), { certificateDirectory: "/data/pki", certificateFiles: undefined, kubeconfig: "/data/kubeconfig" });
  deepEqual(places("--cert-dir c --kubeconfig k"), { certificateDirectory: "c", certificateFiles: undefined, kubeconfig: "k" });
  deepEqual(places("--tls-cert-file c --tls-private-key-file k"), {
    certificateDirectory: "/data/pki",
    certificateFiles: { certificate: "c", key: "k" },
    kubeconfig: "/data/kubeconfig",
  });
});

test("every flag sets its option", () => {
  const words =
    "--secure-port 0 --bind-address ::1 --service-cluster-ip-range 10.1.0.0/16,fd00::/112 --service-node-port-range 1-2 --request-timeout 1m30s " +
    "--min-request-timeout 5 --max-requests-inflight 6 --max-mutating-requests-inflight 7 --http2-max-streams-per-connection 8 --event-ttl 1h " +
    "--kubelet-client-certificate c --kubelet-client-key k --kubelet-certificate-authority a --kubelet-preferred-address-types ExternalIP,Hostname";
  deepEqual(optionsOf(words, MEMORY), {
    ok: true,
    options: {
      serving: { bindAddress: "::1", securePort: 0, streamsPerConnectionMax: 8 },
      api: {
        ...DEFAULT_API_SERVER_CONFIG,
        requestTimeoutMs: 90_000,
        minRequestTimeoutMs: 5_000,
        maxRequestsInFlight: 6,
        maxMutatingRequestsInFlight: 7,
        serviceClusterIpRange: "10.1.0.0/16,fd00::/112",
        serviceNodePortRange: { first: 1, last: 2 },
        kubeletPreferredAddressTypes: ["ExternalIP", "Hostname"],
      },
      eventTtlMs: 3_600_000,
      identity: DEFAULT_IDENTITY_CONFIG,
      kubelets: { certificateFiles: { certificate: "c", key: "k" }, authorityFile: "a" },
    },
  });
});

test("flags of authentication and admission set their options", () => {
  const words =
    "--anonymous-auth=false --client-ca-file a --requestheader-client-ca-file b --requestheader-group-headers X-G --token-auth-file c " +
    "--enable-bootstrap-token-auth=false --service-account-issuer https://a,https://b --service-account-key-file d " +
    "--service-account-signing-key-file e --service-account-max-token-expiration 2h --service-account-extend-token-expiration=false " +
    "--service-account-jwks-uri https://keys --api-audiences x,y --oidc-issuer-url https://i --oidc-client-id me --oidc-required-claim hd=a=b " +
    "--authorization-mode RBAC --enable-admission-plugins PodSecurity --disable-admission-plugins Priority " +
    "--default-not-ready-toleration-seconds 1 --default-unreachable-toleration-seconds 2";
  const parsed = optionsOf(words, MEMORY);
  if (!parsed.ok) throw new Error(parsed.problems.join());
  const { identity, api } = parsed.options;
  const { requestHeader } = DEFAULT_IDENTITY_CONFIG;
  deepEqual(identity, {
    anonymousAuth: false,
    clientCaFile: "a",
    requestHeader: { ...requestHeader, clientCaFile: "b", allowedNames: [], groupHeaders: ["X-G"] },
    tokenAuthFile: "c",
    bootstrapTokenAuth: false,
    serviceAccount: {
      issuers: ["https://a", "https://b"],
      keyFiles: ["d"],
      signingKeyFile: "e",
      maxTokenExpirationSeconds: 7_200,
      extendTokenExpiration: false,
      jwksUri: "https://keys",
    },
    apiAudiences: ["x", "y"],
    oidc: {
      issuerUrl: "https://i",
      clientId: "me",
      usernameClaim: "sub",
      groupsPrefix: "",
      requiredClaims: { hd: "a=b" },
      signingAlgorithms: ["RS256"],
    },
  });
  deepEqual(api.authorizationModes, ["RBAC"]);
  const { enabledPlugins, disabledPlugins, notReadyTolerationSeconds, unreachableTolerationSeconds } = api.admission;
  deepEqual(
    [enabledPlugins, disabledPlugins, notReadyTolerationSeconds, unreachableTolerationSeconds],
    [["PodSecurity"], ["Priority"], 1, 2],
  );
});

describe("all contradictions of flags are reported at once", () => {
  for (const { words, problems } of [
    { words: "--tls-cert-file c", problems: ["--tls-cert-file and --tls-private-key-file must be set together"] },
    {
      words:
        "--tls-cert-file c --service-cluster-ip-range 10.0.0.0/24,10.1.0.0/24 --oidc-issuer-url https://issuer.example.com " +
        "--authentication-config f --service-account-key-file k --authorization-mode RBAC,RBAC " +
        "--enable-admission-plugins PodSecurity --disable-admission-plugins PodSecurity",
      problems: [
        "--tls-cert-file and --tls-private-key-file must be set together",
        "--service-cluster-ip-range must be one range, or an IPv4 and an IPv6 range",
        "--oidc-issuer-url and --oidc-client-id must be set together",
        "--authentication-config and --oidc-issuer-url are mutually exclusive: configure the issuer in one of them",
        "--service-account-key-file requires --service-account-signing-key-file: tokens signed with a generated key would not be accepted",
        "--authorization-mode contains duplicates: RBAC,RBAC",
        "--enable-admission-plugins and --disable-admission-plugins both contain PodSecurity; remove it from one of them",
      ],
    },
  ]) {
    test(words, () => deepEqual(optionsOf(words, MEMORY), { ok: false, problems }));
  }
});

describe("an invalid value is rejected with its flag and the valid values", () => {
  for (const { word, problem } of [
    {
      word: "--bind-address=localhost",
      problem: '--bind-address must be an IP address such as 127.0.0.1, is "localhost"',
    },
    {
      word: "--authorization-mode=Webhook",
      problem: '--authorization-mode must be one of AlwaysAllow, AlwaysDeny, Node, RBAC, is "Webhook"',
    },
    {
      word: "--service-account-max-token-expiration=5m",
      problem: '--service-account-max-token-expiration must be a duration of at least 1h such as 24h, is "5m"',
    },
    { word: "--secure-port=65536", problem: '--secure-port must be an integer from 0 to 65535, is "65536"' },
    {
      word: "--service-cluster-ip-range=10.0.0.0",
      problem: '--service-cluster-ip-range must be a CIDR of at least 4 addresses such as 10.96.0.0/12, is "10.0.0.0"',
    },
    {
      word: "--service-cluster-ip-range=10.0.0.0/31",
      problem: '--service-cluster-ip-range must be a CIDR of at least 4 addresses such as 10.96.0.0/12, is "10.0.0.0/31"',
    },
    { word: "--service-node-port-range=2-1", problem: '--service-node-port-range must be a port range such as 30000-32767, is "2-1"' },
    {
      word: "--service-node-port-range=0-70000",
      problem: '--service-node-port-range must be a port range such as 30000-32767, is "0-70000"',
    },
    { word: "--request-timeout=60", problem: '--request-timeout must be a duration such as 1m30s, is "60"' },
    { word: "--event-ttl=-1h", problem: '--event-ttl must be a duration such as 1m30s, is "-1h"' },
  ]) {
    test(word, () => deepEqual(parseArguments({ flags: apiServerFlags, arguments: {} }, [word]).problems, [problem]));
  }
});

test("feature gates are off unless --feature-gates enables them, and a projection requires its API", () => {
  const gates = (words: string) => {
    const parsed = optionsOf(words, MEMORY);
    return parsed.ok ? parsed.options.api.featureGates : parsed.problems;
  };
  const off = DEFAULT_API_SERVER_CONFIG.featureGates;
  deepEqual(Object.values(off).includes(true), false);
  deepEqual(gates(""), off);
  deepEqual(gates("--feature-gates PodCertificateRequest=true,ClusterTrustBundle=false"), { ...off, PodCertificateRequest: true });
  deepEqual(gates("--feature-gates ClusterTrustBundleProjection=true"), [
    "--feature-gates: ClusterTrustBundleProjection=true requires ClusterTrustBundle=true",
  ]);
  for (const wrong of ["Unknown=true", "ClusterTrustBundle", "ClusterTrustBundle=yes"]) {
    const { problems } = parseArguments({ flags: apiServerFlags, arguments: {} }, ["--feature-gates", wrong]);
    deepEqual(problems.length, 1, wrong);
  }
});

test("read workers need certificates in files, and no audit log", () => {
  const store: StoreConfig = { driver: "embedded", dataDirectory: "/data" };
  const problems = (words: string, of: StoreConfig) => {
    const parsed = optionsOf(words, of);
    return parsed.ok ? [parsed.options.readWorkers] : parsed.problems;
  };
  deepEqual(problems("--read-workers 2", store), [2]);
  deepEqual(problems("--read-workers 0", MEMORY), [undefined]);
  deepEqual(problems("--read-workers 2", MEMORY), ["--read-workers requires --cert-dir, because this store has no data directory"]);
  deepEqual(problems("--read-workers 2 --cert-dir c", MEMORY), [2]);
  deepEqual(problems("--read-workers 2 --audit-log-path log --audit-policy-file p", store), [
    "--read-workers and --audit-log-path cannot be set together",
  ]);
});
