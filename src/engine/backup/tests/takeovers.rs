//! Tests of targets that several servers or clusters use, and of a server whose data folder was set back to an earlier state.

use super::*;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn one_of_two_servers_at_one_target_is_rejected_and_both_states_stay() {
    let (outer, data, target) = folders();
    let run = Run::start(&data, &target, 1, 1);
    run.put(StoreName::Live, "row 1", 10).await;
    run.catch_up().await;
    let other_data = outer.path().join("other");
    std::fs::create_dir(&other_data).expect("the folder can be created");
    let other = Run::start(&other_data, &target, 1, 2);
    until(async || other.backup.status().error.is_some()).await;
    assert_eq!(other.backup.status().error, Some(Error::InUse { host: "machine-1".into() }));
    run.put(StoreName::Live, "row 2", 10).await;
    run.catch_up().await;
    // A server that runs on an undetected copy of the data folder has the same holder name, so it takes over the target. The first server
    // notices this and stops.
    other.crash().await;
    let copy = outer.path().join("copy");
    std::fs::create_dir_all(copy.join("backup-spool")).expect("the folder can be created");
    let state = std::fs::read(data.join("backup-spool/state.json")).expect("the state exists");
    std::fs::write(copy.join("backup-spool/state.json"), state).expect("the file can be written");
    let twin = Run::start(&copy, &target, 1, 3);
    until(async || matches!(run.backup.status().error, Some(Error::TakenOver { .. }))).await;
    assert_eq!(run.backup.status().error, Some(Error::TakenOver { host: "machine-3".into() }));
    twin.put(StoreName::Test, "row 3", 10).await;
    twin.catch_up().await;
    let twins = restored(&target, None).await.expect("the backup can be restored");
    assert_eq!(twins, [vec![], vec!["row 3".into()], Vec::<String>::new()], "the twin started a new log with its own state");
    twin.stop().await;
    run.crash().await;
}

/// Two clusters with the data of one installation, for example one with a restored database, must not take the target from each other
/// forever.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn one_of_two_clusters_at_one_target_stops() {
    let (outer, data, target) = folders();
    let other_data = outer.path().join("other");
    std::fs::create_dir(&other_data).expect("the folder can be created");
    let one = Run::of(&data, &target, (1, 1), seal(), true);
    let two = Run::of(&other_data, &target, (1, 2), seal(), true);
    let newest = async || epochs::newest(&sealed(&target).target).await.expect("the target can be read").map(|(epoch, _)| epoch);
    let is_taken_over = |run: &Run| matches!(run.backup.status().error, Some(Error::TakenOver { .. }));
    // A server that has given up keeps its error, and the other one starts no further epoch.
    let mut is_over = false;
    for _ in 0..18 {
        let before = newest().await;
        tokio::time::sleep(Duration::from_secs(10)).await;
        is_over = is_taken_over(&one) != is_taken_over(&two) && newest().await == before;
        if is_over {
            break;
        }
    }
    assert!(is_over, "one of the clusters stops within three minutes");
    let (stopped, working) = if is_taken_over(&one) { (one, two) } else { (two, one) };
    working.put(StoreName::Live, "row 1", 10).await;
    working.catch_up().await;
    working.stop().await;
    stopped.crash().await;
}

/// Without a new log, a restore could select a snapshot with commits that the folder no longer has.
#[tokio::test]
async fn a_folder_that_was_set_back_to_an_earlier_state_starts_a_new_log() {
    let part = |number, to| PartName { epoch: 1, number, from: Timestamp(0), to: Timestamp(to) };
    let snapshot = |log_from, consistent_at| SnapshotName { epoch: 1, log_from, consistent_at, at: Timestamp(0) };
    // For each case: the newest part that the folder knows to be in the target, the parts that the folder still has, the snapshot in the
    // target, and the epoch in which the log then starts.
    for (shipped, waiting, taken, log_since) in [
        (3, vec![], None, 1),
        // The process ended after it wrote part 3 to the target, and before the folder recorded this.
        (2, vec![part(3, 0)], None, 1),
        (2, vec![part(3, 0), part(4, 7)], Some(snapshot(4, 4)), 1),
        // The folder has other commits than the target.
        (2, vec![part(3, 7)], None, 2),
        (2, vec![], None, 2),
        (1, vec![part(2, 0), part(3, 0)], None, 2),
        // The snapshot has the commits of a part that the folder no longer has.
        (3, vec![], Some(snapshot(4, 4)), 2),
        (3, vec![], Some(snapshot(4, 3)), 1),
    ] {
        let (_outer, _, target) = folders();
        let sealed = sealed(&target);
        let installation = Installation::new(&SeededRandom::new(1));
        let state = State {
            url: String::new(),
            installation: installation.clone(),
            key_check: sealed.key_check().clone(),
            boots: 1,
            holder: "a".to_owned(),
            epoch: 1,
            shipped,
            positions: Positions::default(),
            complete_until: None,
        };
        let candidate = |state| epochs::Candidate {
            installation: &installation,
            host: "a",
            state,
            waiting: &waiting,
            holder: "a",
            heartbeat_seconds: 1,
        };
        epochs::begin(&sealed, &candidate(None)).await.expect("the epoch can be created");
        let objects = (1..=3).map(|number| part(number, 0).object()).chain(taken.map(|taken| taken.manifest()));
        for object in objects {
            assert_eq!(sealed.target.create(&object, "x".into()).await, Ok(true));
        }
        let (epoch, start) = epochs::begin(&sealed, &candidate(Some(&state))).await.expect("the epoch can be created");
        assert_eq!((epoch, start.log_since), (2, log_since), "after part {shipped} with {waiting:?} and {taken:?}");
    }
}
