import java.io.ByteArrayInputStream;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.KeyFactory;
import java.security.KeyStore;
import java.security.cert.Certificate;
import java.security.cert.CertificateFactory;
import java.security.spec.PKCS8EncodedKeySpec;
import java.util.Base64;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLContext;
import javax.net.ssl.TrustManagerFactory;

/** A client of k8ts test control and of the cluster that it controls, with the standard library only. */
final class TestControl {
    /** An answer other than 2xx. */
    static final class Rejected extends Exception {
        final int code;

        Rejected(int code, String body) {
            super(code + ": " + body);
            this.code = code;
        }
    }

    private static final String PATH = "/v1/clusters/main";

    private final HttpClient plain = HttpClient.newHttpClient();
    private final HttpClient secure;
    private final String url;
    private final String token;
    private final String server;

    /** Reads the file that K8TS_TEST_CONTROL names, or that of the default cluster. */
    TestControl() throws Exception {
        String file = System.getenv("K8TS_TEST_CONTROL");
        Path path = file != null ? Path.of(file) : Path.of(System.getProperty("user.home"), ".local/share/k8ts/default/run/test-control.json");
        String access = Files.readString(path);
        url = text(access, "url");
        token = text(access, "token");
        String cluster = call("GET", PATH, "");
        server = text(cluster, "server");
        secure = HttpClient.newBuilder().sslContext(credentials(cluster)).build();
    }

    void reset(String snapshot) throws Exception {
        call("POST", PATH + "/reset", "{\"snapshot\": \"" + snapshot + "\"}");
    }

    void snapshot(String name) throws Exception {
        call("PUT", "/v1/snapshots/" + name, "");
    }

    void advance(String duration) throws Exception {
        call("POST", PATH + "/time/advance", "{\"duration\": \"" + duration + "\"}");
    }

    void cutOff(String node) throws Exception {
        call("POST", PATH + "/nodes/" + node + "/cut-off", "");
    }

    void addFault(String fault) throws Exception {
        call("POST", PATH + "/faults", fault);
    }

    /** A request to test control. */
    String call(String method, String path, String body) throws Exception {
        return send(plain, request(method, url + path, body).header("Authorization", "Bearer " + token));
    }

    /** A request to the API server, as the administrator. */
    String kube(String method, String path, String body) throws Exception {
        return send(secure, request(method, server + path, body));
    }

    private static HttpRequest.Builder request(String method, String url, String body) {
        return HttpRequest.newBuilder(URI.create(url))
                .header("Content-Type", "application/json")
                .method(method, HttpRequest.BodyPublishers.ofString(body));
    }

    private static String send(HttpClient client, HttpRequest.Builder request) throws Exception {
        HttpResponse<String> response = client.send(request.build(), HttpResponse.BodyHandlers.ofString());
        if (response.statusCode() >= 300) throw new Rejected(response.statusCode(), response.body());
        return response.body();
    }

    /** A text field of a JSON object. A real suite uses a JSON library. */
    static String text(String json, String name) {
        Matcher field = Pattern.compile("\"" + name + "\"\\s*:\\s*\"([^\"]*)\"").matcher(json);
        if (!field.find()) throw new IllegalArgumentException("there is no " + name + " in " + json);
        return field.group(1).replace("\\n", "\n");
    }

    private static SSLContext credentials(String cluster) throws Exception {
        CertificateFactory certificates = CertificateFactory.getInstance("X.509");
        KeyStore store = KeyStore.getInstance("PKCS12");
        store.load(null, null);
        store.setCertificateEntry("authority", certificate(certificates, text(cluster, "certificateAuthority")));
        Certificate[] chain = {certificate(certificates, text(cluster, "clientCertificate"))};
        store.setKeyEntry("client", privateKey(text(cluster, "clientKey")), new char[0], chain);
        KeyManagerFactory keys = KeyManagerFactory.getInstance(KeyManagerFactory.getDefaultAlgorithm());
        keys.init(store, new char[0]);
        TrustManagerFactory trust = TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
        trust.init(store);
        SSLContext context = SSLContext.getInstance("TLS");
        context.init(keys.getKeyManagers(), trust.getTrustManagers(), null);
        return context;
    }

    private static Certificate certificate(CertificateFactory certificates, String pem) throws Exception {
        return certificates.generateCertificate(new ByteArrayInputStream(pem.getBytes(StandardCharsets.US_ASCII)));
    }

    private static java.security.PrivateKey privateKey(String pem) throws Exception {
        byte[] der = Base64.getMimeDecoder().decode(pem.replaceAll("-----[A-Z ]+-----", ""));
        return KeyFactory.getInstance("EC").generatePrivate(new PKCS8EncodedKeySpec(der));
    }
}
