import java.io.IOException;
import java.io.PrintStream;

import software.amazon.dynamodb.services.local.main.ServerRunner;

/**
 * DynamoDB Local with its own arguments. Prints {@code ready} on standard output, all else on standard error, and
 * ends when its standard input closes: it never outlives its parent.
 */
public final class Launcher {
    public static void main(String[] args) throws Exception {
        PrintStream answer = System.out;
        System.setOut(System.err);
        new Thread(Launcher::endWithParent).start();
        ServerRunner.createServerFromCommandLineArgs(args).start();
        answer.println("ready");
        answer.flush();
    }

    private static void endWithParent() {
        try {
            while (System.in.read() >= 0) {
                // Nothing is ever sent; only the end matters.
            }
        } catch (IOException broken) {
            // The same as its end.
        }
        Runtime.getRuntime().halt(0);
    }
}
