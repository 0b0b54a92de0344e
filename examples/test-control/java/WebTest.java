import java.util.regex.Pattern;

/** A small suite without a framework; with JUnit, prepare() is @BeforeAll and the reset is @BeforeEach. */
public final class WebTest {
    private static final String DEPLOYMENTS = "/apis/apps/v1/namespaces/default/deployments";
    private static final String PODS = "/api/v1/namespaces/default/pods";

    private interface Test {
        void run() throws Exception;
    }

    private final TestControl control = new TestControl();

    private WebTest() throws Exception {}

    public static void main(String[] arguments) throws Exception {
        WebTest suite = new WebTest();
        suite.prepare();
        suite.run("a deleted Deployment has no Pods", suite::deletedDeployment);
        suite.run("the next test has its Pods", () -> equal(2, suite.pods()));
        suite.run("Pods of a lost node are replaced after five minutes", suite::lostNode);
        suite.run("a conflict is injected once", suite::injectedConflict);
    }

    private void prepare() throws Exception {
        control.reset("empty");
        control.kube("POST", DEPLOYMENTS, """
                {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web"}, "spec": {
                  "replicas": 2, "selector": {"matchLabels": {"app": "web"}}, "template": {
                    "metadata": {"labels": {"app": "web"}}, "spec": {"containers": [{"name": "web", "image": "web:1"}]}}}}""");
        control.advance("10s");
        control.snapshot("java-web");
    }

    private void run(String title, Test test) throws Exception {
        control.reset("java-web");
        test.run();
        System.out.println("ok " + title);
    }

    private void deletedDeployment() throws Exception {
        control.kube("DELETE", DEPLOYMENTS + "/web", "");
        control.advance("1m");
        equal(0, pods());
    }

    private void lostNode() throws Exception {
        String lost = TestControl.text(control.kube("GET", PODS, ""), "nodeName");
        control.cutOff(lost);
        control.advance("7m");
        String running = control.kube("GET", PODS + "?fieldSelector=status.phase=Running,spec.nodeName!=" + lost, "");
        equal(2, count("\"nodeName\":", running));
    }

    private void injectedConflict() throws Exception {
        control.addFault("{\"match\": {\"verb\": \"update\", \"resource\": \"deployments\"}, \"status\": {\"code\": 409}, \"times\": 1}");
        String deployment = control.kube("GET", DEPLOYMENTS + "/web", "");
        String scaled = deployment.replace("\"replicas\":2,", "\"replicas\":3,");
        try {
            control.kube("PUT", DEPLOYMENTS + "/web", scaled);
            throw new AssertionError("The first update is rejected");
        } catch (TestControl.Rejected rejected) {
            equal(409, rejected.code);
        }
        control.kube("PUT", DEPLOYMENTS + "/web", scaled);
        control.advance("10s");
        equal(3, pods());
    }

    private int pods() throws Exception {
        return count("\"nodeName\":", control.kube("GET", PODS, ""));
    }

    private static int count(String text, String in) {
        return (int) Pattern.compile(Pattern.quote(text)).matcher(in).results().count();
    }

    private static void equal(int expected, int actual) {
        if (expected != actual) throw new AssertionError("expected " + expected + ", is " + actual);
    }
}
