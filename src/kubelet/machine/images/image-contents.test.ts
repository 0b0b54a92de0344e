import { deepEqual, equal, throws } from "node:assert/strict";
import { describe, test } from "node:test";
import { imagesIn, type BlobFacts, type TarContents } from "./image-contents.ts";
import { wholeImageName } from "./image-name.ts";

const CONFIG = `sha256:${"c".repeat(64)}`;
const LAYER = `sha256:${"1".repeat(64)}`;
const MANIFEST = `sha256:${"a".repeat(64)}`;
/** What is in the layer once it is unpacked. */
const UNPACKED = `sha256:${"2".repeat(64)}`;
const INDEX = `sha256:${"b".repeat(64)}`;

/** Of documents by path, as values, and of blobs by digest. */
function contents(documents: Readonly<Record<string, unknown>>, blobs: readonly string[], layer: Partial<BlobFacts> = {}): TarContents {
  return {
    text: (path) => (Object.hasOwn(documents, path) ? JSON.stringify(documents[path]) : undefined),
    blob: (path) => {
      const digest = blobs.find(
        (one) => path === `blobs/${one.replace(":", "/")}` || path === `${one.slice(7)}.json` || path === `${one.slice(7)}/layer.tar`,
      );
      if (digest === undefined) return undefined;
      return digest === LAYER
        ? { digest, size: 10, compression: "gzip", unpacked: UNPACKED, ...layer }
        : { digest, size: 10, compression: undefined, unpacked: digest };
    },
  };
}

const at = (digest: string) => `blobs/${digest.replace(":", "/")}`;
const manifest = { config: { digest: CONFIG, size: 10, mediaType: "x" }, layers: [{ digest: LAYER, size: 10, mediaType: "y" }] };
const config = { rootfs: { type: "layers", diff_ids: [UNPACKED] } };
const target = { mediaType: "m", digest: MANIFEST, size: 5 };
const oci = (annotations: Readonly<Record<string, string>>) => ({
  "index.json": { manifests: [{ ...target, annotations }] },
  [at(MANIFEST)]: manifest,
  [at(CONFIG)]: config,
});
const found = (names: readonly string[]) => [{ names, manifest: { is: "present", target }, config: CONFIG, layers: [LAYER] }];
const ALL = [CONFIG, LAYER, MANIFEST, INDEX];

describe("an OCI layout", () => {
  for (const { it, annotations, names } of [
    {
      it: "that containerd wrote says the whole name",
      annotations: { "io.containerd.image.name": "docker.io/library/a:1" },
      names: ["docker.io/library/a:1"],
    },
    { it: "may say a short name", annotations: { "org.opencontainers.image.ref.name": "a:1" }, names: ["docker.io/library/a:1"] },
    { it: "may say only a tag, which is no name", annotations: { "org.opencontainers.image.ref.name": "latest" }, names: [] },
    { it: "may say nothing", annotations: {}, names: [] },
  ]) {
    test(it, () => deepEqual(imagesIn(contents(oci(annotations), ALL), { architecture: "amd64" }), found(names)));
  }

  test("that docker wrote has its names beside it", () => {
    const documents = { ...oci({}), "manifest.json": [{ Config: at(CONFIG), RepoTags: ["a:1", "a:2"], Layers: [at(LAYER)] }] };
    deepEqual(imagesIn(contents(documents, ALL), { architecture: "amd64" }), found(["docker.io/library/a:1", "docker.io/library/a:2"]));
  });

  const several = {
    "index.json": { manifests: [{ mediaType: "i", digest: INDEX, size: 9, annotations: { "io.containerd.image.name": "a.b/c:1" } }] },
    [at(INDEX)]: {
      manifests: [
        { mediaType: "m", digest: `sha256:${"f".repeat(64)}`, size: 5, platform: { os: "linux", architecture: "arm64" } },
        { ...target, platform: { os: "linux", architecture: "amd64" } },
      ],
    },
    [at(MANIFEST)]: manifest,
    [at(CONFIG)]: config,
  };

  test("for several processors leads to this machine's", () => {
    const [image] = found(["a.b/c:1"]);
    deepEqual(imagesIn(contents(several, ALL), { architecture: "amd64" }), [{ ...image, listDigest: INDEX }]);
  });

  test("for other processors is refused", () => {
    throws(() => imagesIn(contents(several, ALL), { architecture: "riscv64" }), /it is for arm64, amd64, this machine is riscv64/);
  });

  test("without one of its layers is refused", () => {
    throws(() => imagesIn(contents(oci({}), [CONFIG, MANIFEST]), { architecture: "amd64" }), /sha256:1+, which it needs, is missing/);
  });
});

describe("what docker saved before there were layouts", () => {
  const documents = {
    "manifest.json": [{ Config: `${"c".repeat(64)}.json`, RepoTags: ["a:1"], Layers: [`${"1".repeat(64)}/layer.tar`] }],
    [`${"c".repeat(64)}.json`]: config,
  };

  test("gets a manifest, which says how each layer is packed", () => {
    const [image] = imagesIn(contents(documents, ALL), { architecture: "amd64" });
    deepEqual([image?.names, image?.config, image?.layers], [["docker.io/library/a:1"], CONFIG, [LAYER]]);
    equal(image?.manifest.is, "new");
    deepEqual(JSON.parse(image?.manifest.is === "new" ? image.manifest.text : ""), {
      schemaVersion: 2,
      mediaType: "application/vnd.oci.image.manifest.v1+json",
      config: { mediaType: "application/vnd.oci.image.config.v1+json", digest: CONFIG, size: 10 },
      layers: [{ mediaType: "application/vnd.oci.image.layer.v1.tar+gzip", digest: LAYER, size: 10 }],
    });
  });

  test("without one of its files is refused", () => {
    throws(() => imagesIn(contents(documents, [CONFIG]), { architecture: "amd64" }), /"1+\/layer\.tar", which it needs, is missing/);
  });
});

describe("layers are what the config says", () => {
  const docker = (value: unknown) => ({
    "manifest.json": [{ Config: `${"c".repeat(64)}.json`, RepoTags: ["a:1"], Layers: [`${"1".repeat(64)}/layer.tar`] }],
    [`${"c".repeat(64)}.json`]: value,
  });
  const other = `sha256:${"3".repeat(64)}`;
  for (const { it, documents, layer, says } of [
    {
      it: "another content in a layout is refused",
      documents: oci({}),
      layer: { unpacked: other },
      says: /1+" is damaged: it is sha256:3+,/,
    },
    { it: "another content is refused", documents: docker(config), layer: { unpacked: other }, says: /and should be sha256:2+; save the/ },
    { it: "what cannot be unpacked is refused", documents: docker(config), layer: { unpacked: undefined }, says: /it is not readable/ },
    {
      it: "zstd, of which nobody knows the content, is refused",
      documents: docker(config),
      layer: { compression: "zstd", unpacked: undefined },
      says: /it is not readable/,
    },
    {
      it: "fewer layers are refused",
      documents: docker({ rootfs: { diff_ids: [] } }),
      layer: {},
      says: /1 layers, and its config .* lists 0/,
    },
    { it: "a config without any is refused", documents: docker({}), layer: {}, says: /does not list its layers/ },
  ] as const) {
    test(it, () => throws(() => imagesIn(contents(documents, ALL, layer), { architecture: "amd64" }), says));
  }

  test("zstd in a layout is taken, since its own digest is in its name", () => {
    const zstd = contents(oci({}), ALL, { compression: "zstd", unpacked: undefined });
    deepEqual(imagesIn(zstd, { architecture: "amd64" }), found([]));
  });
});

test("a tar without any of the documents is no image", () => {
  throws(() => imagesIn(contents({}, []), { architecture: "amd64" }), /neither an index\.json nor a manifest\.json/);
});

describe("a name is made whole", () => {
  for (const [name, whole] of [
    ["busybox", "docker.io/library/busybox:latest"],
    ["busybox:1", "docker.io/library/busybox:1"],
    ["user/app", "docker.io/user/app:latest"],
    ["localhost/app:2", "localhost/app:2"],
    ["reg.example:5000/app", "reg.example:5000/app:latest"],
    ["k8ts.test/busybox:1", "k8ts.test/busybox:1"],
    ["a.b/c@sha256:00", "a.b/c@sha256:00"],
  ] as const) {
    test(name, () => equal(wholeImageName(name), whole));
  }
});
