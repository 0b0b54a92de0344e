import assert from "node:assert/strict";
import test from "node:test";
import { encodeBase64 } from "../../../api/machinery/codec/base64.ts";
import { bytesOf, REQUESTS } from "../../../api/machinery/x509/testing/samples.ts";
import { answerOf } from "../../testing/node-cluster.ts";
import { startServer } from "../../testing/server.ts";

const PATH = "/apis/certificates.k8s.io/v1/certificatesigningrequests";

/** User `someone`, group `system:masters`. */
const MASTERS_REQUEST = `
-----BEGIN CERTIFICATE REQUEST-----
MIHlMIGNAgEAMCsxFzAVBgNVBAoMDnN5c3RlbTptYXN0ZXJzMRAwDgYDVQQDDAdz
b21lb25lMFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEdhFKCeYVML8pym4oRDyN
U8/n1PzHNIHF6yHhMuVBb3jz65GzxdV098HDYXOwN86qHGiaKRKpBcHJzmfjxCTn
fqAAMAoGCCqGSM49BAMCA0cAMEQCIDZQ2/IdvZ2JaV40BVBRXgO2euci+w4aAuRi
PtC+DSYJAiBrTb4krX14/wtu6RsfywzHuGIOxmdAs7jmZo6b7mqsLA==
-----END CERTIFICATE REQUEST-----
`;

const CLIENTS = "kubernetes.io/kube-apiserver-client";

test("CertificateSubjectRestriction rejects client certificates of system:masters even for its members; other signers are not restricted", async () => {
  await using server = await startServer();
  const create = async (signerName: string, request: string) => {
    const spec = { signerName, request: encodeBase64(bytesOf(request)), usages: ["client auth"] };
    return answerOf(await server.call("POST", `${PATH}?dryRun=All`, { metadata: { name: "r" }, spec }));
  };

  assert.equal(
    await create(CLIENTS, MASTERS_REQUEST),
    `403 certificatesigningrequests.certificates.k8s.io "r" is forbidden: use of ${CLIENTS} signer with system:masters group is not allowed`,
  );
  assert.equal(await create(CLIENTS, REQUESTS.P256), "201");
  assert.equal(await create("example.com/own", MASTERS_REQUEST), "201");
  assert.match(await create(CLIENTS, "none"), /^422 .*spec\.request: Invalid value/);
});
