//! The command as users run it. Processes are looked up in Linux's process table.
#![cfg(target_os = "linux")]

#[cfg(test)]
mod tests {
    use std::io::{BufRead, BufReader, Read, Write};
    use std::net::{TcpListener, TcpStream};
    use std::os::unix::fs::PermissionsExt;
    use std::path::{Path, PathBuf};
    use std::process::{Child, Command, Stdio};
    use std::time::{Duration, Instant};

    use serde_json::{Value, json};

    /// A running `cairn local`, killed when dropped.
    struct Running {
        child: Child,
        url: String,
        said: Vec<String>,
    }

    impl Running {
        /// Returns its standard error after it has ended.
        fn stderr(&mut self) -> String {
            let mut said = String::new();
            if let Some(mut stderr) = self.child.stderr.take() {
                stderr.read_to_string(&mut said).unwrap();
            }
            said
        }
    }

    impl Drop for Running {
        fn drop(&mut self) {
            let _ = self.child.kill();
            let _ = self.child.wait();
        }
    }

    fn cairn(folder: &Path, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_cairn"));
        command.args(arguments).current_dir(folder).stdin(Stdio::null());
        command.env_remove("CAIRN_SEARCH_ENDPOINT").env_remove("CAIRN_FAILPOINT");
        command
    }

    fn start(command: &mut Command) -> Running {
        until_ready(command.stderr(Stdio::piped()))
    }

    /// Starts a platform with this standard error, and waits until it is ready.
    fn until_ready(command: &mut Command) -> Running {
        let child = command.stdout(Stdio::piped()).spawn().unwrap();
        let mut running = Running { child, url: String::new(), said: Vec::new() };
        for line in BufReader::new(running.child.stdout.take().unwrap()).lines() {
            let line = line.unwrap();
            if let Some(url) = line.strip_prefix("ready ") {
                running.url = url.to_owned();
                return running;
            }
            running.said.push(line);
        }
        let stderr = running.stderr();
        panic!("it ended before it was ready: {:?} {stderr}", running.said);
    }

    fn osmem(folder: &Path) -> Running {
        start(&mut cairn(folder, &["local", "--port", "0", "--search", "osmem"]))
    }

    /// Returns the response to a GET, from its status line to its body.
    fn get(url: &str, path: &str) -> String {
        ask(url, path, "")
    }

    /// Returns the response to a GET with this token.
    fn get_as(token: &str, url: &str, path: &str) -> String {
        ask(url, path, &format!("authorization: Bearer {token}\r\n"))
    }

    fn ask(url: &str, path: &str, header: &str) -> String {
        let authority = url.strip_prefix("http://").unwrap();
        let mut stream = TcpStream::connect(authority).unwrap();
        let head = format!("GET {path} HTTP/1.1\r\nhost: {authority}\r\n{header}connection: close\r\n\r\n");
        stream.write_all(head.as_bytes()).unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        answer
    }

    fn token(folder: &Path, arguments: &[&str]) -> String {
        let output = cairn(folder, &[&["token"][..], arguments].concat()).output().unwrap();
        assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap().trim_end().to_owned()
    }

    /// Returns the claims of a token.
    fn claims(token: &str) -> Value {
        let [_, claims, _] = token.split('.').collect::<Vec<_>>()[..] else { panic!("{token}") };
        serde_json::from_slice(&base64url(claims)).unwrap()
    }

    /// Decodes base64url.
    fn base64url(text: &str) -> Vec<u8> {
        let (mut bytes, mut bits, mut count) = (Vec::new(), 0_u32, 0);
        for letter in text.bytes() {
            let value = match letter {
                b'A'..=b'Z' => letter - b'A',
                b'a'..=b'z' => letter - b'a' + 26,
                b'0'..=b'9' => letter - b'0' + 52,
                b'-' => 62,
                b'_' => 63,
                _ => panic!("{text}"),
            };
            (bits, count) = (bits << 6 | u32::from(value), count + 6);
            if count >= 8 {
                count -= 8;
                bytes.push((bits >> count) as u8);
            }
        }
        bytes
    }

    /// Sends a signal.
    fn signal(name: &str, process: u32) {
        assert!(Command::new("sh").args(["-c", &format!("kill -{name} {process}")]).status().unwrap().success());
    }

    fn until(what: &str, limit: Duration, mut done: impl FnMut() -> bool) {
        let began = Instant::now();
        while !done() {
            assert!(began.elapsed() < limit, "{what}");
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    /// Returns the child processes of a process.
    fn children(of: u32) -> Vec<u32> {
        let parent = |process: &PathBuf| {
            let stat = std::fs::read_to_string(process.join("stat")).ok()?;
            stat.rsplit_once(") ")?.1.split(' ').nth(1)?.parse::<u32>().ok()
        };
        let processes = std::fs::read_dir("/proc").unwrap().filter_map(|entry| Some(entry.ok()?.path()));
        let own = processes.filter(|process| parent(process) == Some(of));
        own.filter_map(|process| process.file_name()?.to_str()?.parse().ok()).collect()
    }

    #[test]
    fn local_prints_addresses_and_stops_cleanly() {
        let folder = tempfile::tempdir().unwrap();
        let mut running = osmem(folder.path());
        assert!(running.said.iter().any(|line| line.starts_with("parks") && line.contains(&running.url)));
        let health = get(&running.url, "/parks/health");
        assert!(health.starts_with("HTTP/1.1 200 OK") && health.ends_with(r#"{"status":"ok"}"#), "{health}");
        let listed = cairn(folder.path(), &["quarantine", "ls"]).output().unwrap();
        assert_eq!(String::from_utf8(listed.stdout).unwrap(), "The quarantine is empty.\n");
        let listed = cairn(folder.path(), &["quarantine", "ls", "--system", "tracker"]).output().unwrap();
        assert_eq!(String::from_utf8(listed.stdout).unwrap(), "The quarantine is empty.\n");
        let listed = cairn(folder.path(), &["quarantine", "ls", "--system", "park"]).output().unwrap();
        let said = String::from_utf8(listed.stderr).unwrap();
        assert!(said.contains("There is no system `park`.") && said.contains("agencies"), "{said}");

        let search = children(running.child.id());
        assert_eq!(search.len(), 1);
        signal("INT", running.child.id());
        assert!(running.child.wait().unwrap().success());
        assert!(!Path::new(&format!("/proc/{}", search[0])).exists());
        let listed = cairn(folder.path(), &["quarantine", "ls"]).output().unwrap();
        assert!(String::from_utf8(listed.stderr).unwrap().contains("cargo local"));
    }

    /// As `cargo local | head -1` ends.
    #[test]
    fn local_stops_when_nothing_reads_its_output() {
        let folder = tempfile::tempdir().unwrap();
        let mut command = cairn(folder.path(), &["local", "--port", "0", "--search", "osmem"]);
        let mut unread = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        drop(unread.stdout.take());
        let unread = unread.wait_with_output().unwrap();
        let said = String::from_utf8(unread.stderr).unwrap();
        assert!(unread.status.code() == Some(141) && !said.contains("panicked"), "{said}");
        assert!(!folder.path().join(".cairn/running.json").exists());
    }

    /// As Ctrl-C ends `cargo local 2>&1 | tee log`, when it kills `tee` first.
    #[test]
    fn local_stops_cleanly_when_nothing_reads_its_messages() {
        let folder = tempfile::tempdir().unwrap();
        let (reader, unread) = std::io::pipe().unwrap();
        drop(reader);
        let mut command = cairn(folder.path(), &["local", "--port", "0", "--search", "osmem"]);
        let mut running = until_ready(command.stderr(unread));
        let [search] = children(running.child.id())[..] else { panic!("one engine runs as a process") };
        signal("INT", running.child.id());
        assert!(running.child.wait().unwrap().success());
        assert!(!Path::new(&format!("/proc/{search}")).exists());
        assert!(!folder.path().join(".cairn/running.json").exists());
    }

    #[test]
    fn printed_command_creates_a_token_in_a_folder_with_a_space() {
        let folder = tempfile::tempdir().unwrap();
        let arguments = ["local", "--port", "0", "--search", "osmem", "--state", "my data"];
        let running = start(&mut cairn(folder.path(), &arguments));
        let line = running.said.iter().find(|line| line.starts_with("token      chat-member ")).unwrap();
        let (_, command) = line.split_once("cargo cairn ").unwrap();
        let (command, _) = command.split_once("  ").unwrap();
        let command = format!("'{}' {command}", env!("CARGO_BIN_EXE_cairn"));
        let output = Command::new("sh").args(["-c", &command]).current_dir(folder.path()).output().unwrap();
        assert!(output.status.success(), "{command}: {}", String::from_utf8_lossy(&output.stderr));
        let made = String::from_utf8(output.stdout).unwrap();
        let kept = std::fs::read_to_string(folder.path().join("my data/tokens/chat-member")).unwrap();
        assert_eq!(claims(made.trim_end())["sub"], claims(kept.trim_end())["sub"]);
    }

    /// Returns the phases of the shelf's indexes, as the command prints them.
    fn rebuild(folder: &Path, arguments: &[&str]) -> Vec<(String, String)> {
        let output = cairn(folder, &[&["rebuild"][..], arguments, &["shelf", "--json"]].concat()).output().unwrap();
        assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
        let state: Value = serde_json::from_slice(&output.stdout).unwrap();
        let text = |index: &Value, name: &str| index[name].as_str().unwrap().to_owned();
        let indexes = state["indexes"].as_array().unwrap().iter();
        indexes.map(|index| (text(index, "index"), text(index, "phase"))).collect()
    }

    #[test]
    fn rebuild_that_was_killed_resumes_is_rolled_back_and_finished() {
        let folder = tempfile::tempdir().unwrap();
        let arguments = ["local", "--port", "0", "--search", "osmem", "--mirror-timeout", "2"];
        let _running = start(&mut cairn(folder.path(), &arguments));
        let phases = |found: &[(&str, &str)]| -> Vec<(String, String)> {
            found.iter().map(|(index, phase)| (format!("shelf-00000{index}"), (*phase).to_owned())).collect()
        };
        assert_eq!(rebuild(folder.path(), &["status"]), phases(&[("1", "serving")]));
        // It is killed while it waits.
        let mut killed = cairn(folder.path(), &["rebuild", "start", "shelf"]).spawn().unwrap();
        until("the rebuild did not begin", Duration::from_secs(20), || rebuild(folder.path(), &["status"]).len() == 2);
        killed.kill().unwrap();
        killed.wait().unwrap();
        assert_eq!(rebuild(folder.path(), &["status"]), phases(&[("1", "serving"), ("2", "published")]));
        // A refused order leaves the rebuild paused.
        rebuild(folder.path(), &["pause"]);
        let refused = |arguments: &[&str], reason: &str| {
            let output = cairn(folder.path(), &[&["rebuild"][..], arguments].concat()).output().unwrap();
            let said = String::from_utf8(output.stderr).unwrap();
            assert!(output.status.code() == Some(1) && said.contains(reason), "{arguments:?}: {said}");
        };
        refused(&["resume", "shelf", "--replace"], "without `--replace`");
        refused(&["resume", "shelf", "--in-cloud"], "`--in-cloud` needs a deployment");
        let (code, status) = ended(folder.path(), &["status", "shelf"]);
        assert!(code == Some(3) && status.contains("the rebuild is paused"), "{status}");
        assert_eq!(rebuild(folder.path(), &["resume"]), phases(&[("1", "kept"), ("2", "serving")]));
        refused(&["start", "shelf", "--finish"], "`cairn rebuild finish shelf` completes the rebuild");
        assert_eq!(rebuild(folder.path(), &["rollback"]), phases(&[("1", "serving"), ("2", "kept")]));
        // Nothing is paused, and what follows a pause would undo the rollback.
        refused(&["resume", "shelf"], "No rebuild of shelf is paused. `cairn rebuild status shelf` shows its state.");
        assert_eq!(rebuild(folder.path(), &["status"]), phases(&[("1", "serving"), ("2", "kept")]));
        let dry_run = |command| ended(folder.path(), &["rebuild", command, "shelf", "--dry-run"]);
        assert_eq!(dry_run("cancel"), (Some(3), "shelf-000002  would be deleted\n".to_owned()));
        refused(&["finish", "shelf", "--dry-run"], "the new index does not serve");
        assert_eq!(rebuild(folder.path(), &["cancel"]), phases(&[("1", "serving")]));
        assert_eq!(dry_run("finish"), (Some(0), "No index would be deleted.\n".to_owned()));
        assert_eq!(rebuild(folder.path(), &["start", "--finish"]), phases(&[("3", "serving")]));

        // Nothing reads what it prints.
        let mut unread = cairn(folder.path(), &["rebuild", "status", "shelf"]);
        let mut unread = unread.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        drop(unread.stdout.take());
        let unread = unread.wait_with_output().unwrap();
        assert_eq!((unread.status.code(), String::from_utf8(unread.stderr).unwrap()), (Some(141), String::new()));

        refused(&["rollback", "shelf"], "no old index is written any more");
    }

    /// Runs a command. Returns its exit code and what it printed.
    fn ended(folder: &Path, arguments: &[&str]) -> (Option<i32>, String) {
        let output = cairn(folder, arguments).output().unwrap();
        (output.status.code(), String::from_utf8(output.stdout).unwrap())
    }

    #[test]
    fn operators_commands_end_with_their_codes() {
        let folder = tempfile::tempdir().unwrap();
        let running = osmem(folder.path());
        let (code, printed) = ended(folder.path(), &["status"]);
        assert!(code == Some(0) && printed.lines().all(|line| line.ends_with("  ok")), "{printed}");
        assert_eq!(ended(folder.path(), &["status", "park"]).0, Some(1));
        assert_eq!(ended(folder.path(), &["status", "--park"]).0, Some(2));
        assert_eq!(ended(folder.path(), &["quarantine", "dismiss"]).0, Some(2));
        assert_eq!(ended(folder.path(), &["lag", "parks"]).0, Some(0));
        assert_eq!(ended(folder.path(), &["show", "geozone::bcparks_1#1"]).0, Some(0));
        assert_eq!(ended(folder.path(), &["sweep", "parks", "--dry-run"]).0, Some(0));

        // Lambda has given up the record of an item that does not exist any more.
        let kept = folder.path().join(".cairn/objects/parks-failures/aws/lambda/1/2");
        std::fs::create_dir_all(kept.parent().unwrap()).unwrap();
        let arn = "arn:aws:dynamodb:local:000000000000:table/parks/stream/1";
        let keys = json!({ "pk": { "S": "geozone::bcparks_1" }, "sk": { "S": "1" } });
        let record = json!({ "eventSourceARN": arn, "eventName": "REMOVE", "dynamodb": { "Keys": keys } });
        let function = "arn:aws:lambda:local:000000000000:function:parks-mirror";
        let payload = json!({ "Records": [record] }).to_string();
        let object = json!({ "requestContext": { "functionArn": function }, "payload": payload });
        std::fs::write(&kept, object.to_string()).unwrap();
        let (code, printed) = ended(folder.path(), &["status", "parks"]);
        assert!(code == Some(3) && printed.starts_with("parks  given-up  1 object "), "{printed}");
        let (code, printed) = ended(folder.path(), &["redrive", "parks", "--json"]);
        let young: Value = serde_json::from_str(&printed).unwrap();
        assert_eq!((code, &young["waiting"]), (Some(3), &json!(1)));
        let earlier = std::time::SystemTime::now() - Duration::from_secs(21 * 60);
        std::fs::File::open(&kept).unwrap().set_modified(earlier).unwrap();
        assert_eq!(ended(folder.path(), &["redrive", "parks", "--dry-run"]).0, Some(3));
        assert!(kept.exists());
        let (code, printed) = ended(folder.path(), &["redrive", "parks", "--json"]);
        let redriven: Value = serde_json::from_str(&printed).unwrap();
        let numbers = (&redriven["objects"], &redriven["records"], &redriven["repairs"]["nothing"]);
        assert_eq!((code, numbers), (Some(0), (&json!(1), &json!(1), &json!(1))), "{redriven}");
        assert!(!kept.exists());
        assert_eq!(ended(folder.path(), &["status", "parks"]), (Some(0), "parks  ok\n".to_owned()));
        drop(running);
        assert_eq!(ended(folder.path(), &["status"]).0, Some(1));
    }

    #[test]
    fn token_has_the_requested_claims_and_is_accepted() {
        let folder = tempfile::tempdir().unwrap();
        let arguments = ["local", "--port", "0", "--search", "osmem", "--issuer", "acme"];
        let running = start(&mut cairn(folder.path(), &arguments));
        let asked = "parks-admin --issuer acme --subject auth0|eve --name Eve --address eve@example.org";
        let eve = token(folder.path(), &asked.split(' ').collect::<Vec<_>>());
        let said = claims(&eve);
        let expected = [
            ("iss", json!("urn:cairn:acme")),
            ("sub", json!("auth0|eve")),
            ("roles", json!(["parks-admin"])),
            ("name", json!("Eve")),
            ("email", json!("eve@example.org")),
            ("email_verified", json!(true)),
        ];
        for (name, value) in expected {
            assert_eq!(said[name], value, "{said}");
        }
        assert_eq!(said["exp"].as_i64().unwrap() - said["iat"].as_i64().unwrap(), 30 * 24 * 3600);
        let ann = token(folder.path(), &["--subject", "ann"]);
        assert_eq!((&claims(&ann)["iss"], &claims(&ann)["sub"]), (&json!("urn:cairn:local"), &json!("ann")));
        for (token, path, status) in [
            (&eve, "/parks/jobs", 200),
            (&eve, "/agencies/me/invitations", 200),
            (&ann, "/parks/jobs", 403),
            (&ann, "/tracker/me/tenants", 200),
        ] {
            let answer = get_as(token, &running.url, path);
            assert!(answer.starts_with(&format!("HTTP/1.1 {status} ")), "{path}: {answer}");
        }
        for (subject, issuer, reason) in
            [("eve", "nobody", "it has `local`, `acme`"), ("", "acme", "is not a valid subject")]
        {
            let refused = cairn(folder.path(), &["token", "--subject", subject, "--issuer", issuer]).output().unwrap();
            let said = String::from_utf8(refused.stderr).unwrap();
            assert!(refused.status.code() == Some(1) && said.contains(reason), "{said}");
            assert_eq!((said.lines().count(), refused.stdout.len()), (1, 0), "{said}");
        }
    }

    #[test]
    fn start_writes_a_token_for_each_kind_of_caller() {
        let folder = tempfile::tempdir().unwrap();
        let running = osmem(folder.path());
        let rows = running.said.iter().filter(|line| line.starts_with("token "));
        let rows: Vec<Vec<&str>> = rows.map(|line| line.split_whitespace().collect()).collect();
        let kinds: Vec<&str> = rows.iter().map(|row| row[1]).collect();
        let expected = [
            "parks-admin",
            "platform-admin",
            "agency-admin",
            "agency-member",
            "agency-invitee",
            "tenant-admin",
            "tenant-editor",
            "tenant-viewer",
            "archive-administrator",
            "archive-editor",
            "archive-volunteer",
            "chat-admin",
            "chat-member",
            "librarian",
        ];
        assert_eq!(kinds, expected);
        for row in rows {
            let [_, _, "cargo", "cairn", "token", arguments @ .., file] = &row[..] else { panic!("{row:?}") };
            let file = folder.path().join(file);
            assert_eq!(std::fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
            let kept = std::fs::read_to_string(&file).unwrap().trim_end().to_owned();
            let answer = get_as(&kept, &running.url, "/agencies/me/agencies");
            assert!(answer.starts_with("HTTP/1.1 200 "), "{row:?}: {answer}");
            // The command creates one with the same claims, except for its time.
            let [kept, made] = [kept, token(folder.path(), arguments)].map(|token| claims(&token));
            for name in ["iss", "sub", "roles", "name", "email", "email_verified"] {
                assert_eq!(kept[name], made[name], "{row:?}");
            }
        }
    }

    /// Adds a proxy that does not respond.
    fn behind_proxy(mut command: Command) -> Command {
        command.env("HTTP_PROXY", "http://127.0.0.1:1").env_remove("NO_PROXY").env_remove("no_proxy");
        command
    }

    #[test]
    fn import_into_a_local_platform_uses_no_proxy() {
        let folder = tempfile::tempdir().unwrap();
        let _running = osmem(folder.path());
        let file = json!({ "type": "FeatureCollection", "features": [] });
        std::fs::write(folder.path().join("trails.json"), file.to_string()).unwrap();
        let arguments = ["import", "trails.json", "--collection", "missing", "--entity", "facility"];
        let output = behind_proxy(cairn(folder.path(), &arguments)).output().unwrap();
        let said = String::from_utf8(output.stderr).unwrap();
        assert!(said.contains("The response of the gateway was 422"), "{said}");
    }

    #[test]
    fn world_sample_loads_after_ready_and_stops_with_the_platform() {
        let folder = tempfile::tempdir().unwrap();
        let arguments = ["local", "--sample=world", "--port", "0", "--search", "osmem"];
        // The sample is sent to the gateway without the proxy.
        let mut running = start(&mut behind_proxy(cairn(folder.path(), &arguments)));
        let countries = || get(&running.url, "/parks/geozones/countries");
        until("no country was loaded", Duration::from_secs(60), || countries().contains(r#""displayName""#));
        let nightly = std::env::var("CAIRN_TIER").is_ok_and(|tier| tier == "nightly");
        let mut said = String::new();
        if nightly {
            let mut stderr = BufReader::new(running.child.stderr.as_mut().unwrap());
            while !said.contains("All sample data") {
                assert!(stderr.read_line(&mut said).unwrap() > 0, "it ended before all was loaded: {said}");
            }
            assert!(said.contains(", 0 refused"), "{said}");
        }
        signal("INT", running.child.id());
        assert!(running.child.wait().unwrap().success());
        said += &running.stderr();
        assert!(!said.contains("failed") && said.contains("All sample data") == nightly, "{said}");
    }

    #[test]
    fn death_of_the_search_engine_ends_the_platform_with_its_name() {
        let folder = tempfile::tempdir().unwrap();
        let mut running = osmem(folder.path());
        let [search] = children(running.child.id())[..] else { panic!("one engine runs as a process") };
        signal("KILL", search);
        let began = Instant::now();
        assert_eq!(running.child.wait().unwrap().code(), Some(1));
        assert!(began.elapsed() < Duration::from_secs(2));
        let said = running.stderr();
        let last = said.lines().last().unwrap();
        assert!(
            last.starts_with("osmem was killed by signal 9; see its log ") && last.ends_with("osmem.log"),
            "{said}"
        );
    }

    #[test]
    fn killed_platform_leaves_no_engine_and_a_usable_folder() {
        let folder = tempfile::tempdir().unwrap();
        let arguments = ["local", "--port", "0"];
        let mut running = start(&mut cairn(folder.path(), &arguments));
        let [search] = children(running.child.id())[..] else { panic!("one engine runs as a process") };
        running.child.kill().unwrap();
        running.child.wait().unwrap();
        until("the engine outlives cairn", Duration::from_secs(30), || !Path::new(&format!("/proc/{search}")).exists());
        let status = cairn(folder.path(), &["status"]).output().unwrap();
        let said = String::from_utf8(status.stderr).unwrap();
        assert!(!status.status.success() && said.contains("No platform runs on"), "{said}");
        // Another program listens on its port.
        let listener = TcpListener::bind(running.url.strip_prefix("http://").unwrap()).unwrap();
        assert!(folder.path().join(".cairn/running.json").exists());
        let status = cairn(folder.path(), &["status"]).output().unwrap();
        let said = String::from_utf8(status.stderr).unwrap();
        assert!(!status.status.success() && said.contains("No platform runs on"), "{said}");
        drop(listener);
        let again = start(&mut cairn(folder.path(), &arguments));
        assert!(get(&again.url, "/parks/health").starts_with("HTTP/1.1 200 OK"));
    }

    #[test]
    fn local_without_java_runs_on_osmem_and_prints_what_is_missing() {
        let folder = tempfile::tempdir().unwrap();
        let tools = tempfile::tempdir().unwrap();
        for tool in ["python3", "pip3"] {
            let found = std::env::split_paths(&std::env::var_os("PATH").unwrap())
                .map(|path| path.join(tool))
                .find(|file| file.is_file());
            std::os::unix::fs::symlink(found.unwrap(), tools.path().join(tool)).unwrap();
        }
        let mut command = cairn(folder.path(), &["local", "--port", "0"]);
        let mut running = start(command.env("PATH", tools.path()).env_remove("JAVA_HOME"));
        signal("INT", running.child.id());
        assert!(running.child.wait().unwrap().success());
        let said = running.stderr();
        let lost: Vec<&str> = said.lines().filter(|line| line.contains("Java 17")).collect();
        assert!(matches!(lost[..], [line] if line.starts_with("Search is osmem")), "{said}");
    }

    #[test]
    fn failed_start_says_what_to_do() {
        let folder = tempfile::tempdir().unwrap();
        let running = osmem(folder.path());
        let port = running.url.rsplit(':').next().unwrap();
        let refused = |folder: &Path, arguments: &[&str], expected: &str| {
            let output = cairn(folder, arguments).output().unwrap();
            let said = String::from_utf8(output.stderr).unwrap();
            assert!(output.status.code() == Some(1) && said.contains(expected), "{arguments:?}: {said}");
        };
        let other = tempfile::tempdir().unwrap();
        refused(other.path(), &["local", "--port", port], "choose another one with `--port`");
        refused(folder.path(), &["local", "--port", "0"], "choose another folder with `--state`");
        refused(folder.path(), &["local", "reset"], "Stop it first");
        refused(other.path(), &["token", "parks-admin"], "Start one first with `cargo local`");
        let missing = ["gazetteer", "--divisions", "missing.json", "--print"];
        refused(other.path(), &missing, "Reading `missing.json` failed");
        drop(running);

        std::fs::write(folder.path().join(".cairn/state.json"), "torn").unwrap();
        refused(folder.path(), &["local", "--port", "0"], "`cairn local reset` deletes it");
        assert!(cairn(folder.path(), &["local", "reset"]).status().unwrap().success());
        assert!(!folder.path().join(".cairn").exists());
        let (code, said) = ended(folder.path(), &["local", "reset"]);
        assert_eq!((code, said.as_str()), (Some(0), "There is no state folder `.cairn`.\n"));
    }
}
