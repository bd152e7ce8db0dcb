import java.io.IOException;
import java.io.PrintStream;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

import org.codelibs.opensearch.runner.OpenSearchRunner;
import org.opensearch.http.HttpServerTransport;

/**
 * One OpenSearch node: {@code Launcher FOLDER PORT}, where port 0 lets the system choose. Prints {@code ready PORT} on
 * standard output, all else on standard error, and ends when its standard input closes: it never outlives its parent.
 */
public final class Launcher {
    public static void main(String[] args) throws Exception {
        PrintStream answer = System.out;
        System.setOut(System.err);
        OpenSearchRunner runner = new OpenSearchRunner();
        new Thread(() -> endWithParent(runner)).start();

        // An earlier node on this folder may still be ending.
        Path folder = Files.createDirectories(Path.of(args[0]));
        FileChannel.open(folder.resolve("lock"), StandardOpenOption.CREATE, StandardOpenOption.WRITE).lock();

        runner.setMaxHttpPort(-1);
        runner.onBuild((number, settings) -> settings
                .put("http.port", args[1])
                .put("transport.port", "0")
                .put("network.host", "127.0.0.1")
                .put("discovery.type", "single-node")
                .put("rest.action.multi.allow_explicit_index", false)
                .put("cluster.routing.allocation.disk.threshold_enabled", false)
                .put("cluster.max_shards_per_node", 10_000));
        runner.build(OpenSearchRunner.newConfigs().basePath(args[0]).clusterName("cairn").numOfNode(1));
        runner.ensureYellow();
        HttpServerTransport http = runner.getInstance(HttpServerTransport.class);
        answer.println("ready " + http.boundAddress().publishAddress().getPort());
        answer.flush();
    }

    private static void endWithParent(OpenSearchRunner runner) {
        try {
            while (System.in.read() >= 0) {
                // Nothing is ever sent; only the end matters.
            }
        } catch (IOException broken) {
            // The same as its end.
        }
        // What was acknowledged is in the translog, so the end may be hard where closing takes long.
        Thread limit = new Thread(() -> {
            try {
                Thread.sleep(1000);
            } catch (InterruptedException early) {
                // Halting early loses nothing either.
            }
            Runtime.getRuntime().halt(0);
        });
        limit.setDaemon(true);
        limit.start();
        try {
            runner.close();
        } catch (IOException failed) {
            failed.printStackTrace();
        }
        Runtime.getRuntime().halt(0);
    }
}
