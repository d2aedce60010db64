//! Where a home is, and which profile of it is in use.

use super::*;

fn wanted(home: &Path, profile: Option<&str>) -> Wanted {
    Wanted { home: Some(home.to_owned()), profile: profile.map(str::to_owned) }
}

#[test]
fn the_home_is_flag_then_environment_then_the_usual_place() {
    let env = Env::of([("HOME", "/home/alice"), ("HERMES_HOME", "~/agent")]);
    let home = Home::locate(&Wanted::default(), &env).unwrap();
    assert_eq!(home.root(), Path::new("/home/alice/agent"));
    let home = Home::locate(&wanted(Path::new("/srv/h"), None), &env).unwrap();
    assert_eq!(home.root(), Path::new("/srv/h"));
    let env = Env::of([("HOME", "/home/alice")]);
    let home = Home::locate(&Wanted::default(), &env).unwrap();
    assert_eq!(home.root(), Path::new("/home/alice/.hermes"));
    assert!(matches!(Home::locate(&Wanted::default(), &Env::default()), Err(Error::NoHome)));
    let tilde = Env::of([("HERMES_HOME", "~/agent")]);
    assert!(matches!(Home::locate(&Wanted::default(), &tilde), Err(Error::NoHome)));
}

#[test]
fn a_variable_that_is_not_unicode_is_an_error_that_names_it() {
    use std::ffi::OsString;
    use std::os::unix::ffi::OsStringExt;
    let env = |text: [(&str, &str); 2], broken: &str| {
        let broken = (OsString::from(broken), OsString::from_vec(b"/data/b\xff".to_vec()));
        Env::of_os(
            text.map(|(name, value)| (name.into(), value.into())).into_iter().chain([broken]),
        )
    };
    let refused = |wanted: &Wanted, env: &Env, variable: &str| {
        let error = Home::locate(wanted, env).unwrap_err();
        assert!(matches!(&error, Error::NotUnicode { name } if name == variable), "{error}");
    };
    let unsaid = Wanted::default();
    let root = tempfile::tempdir().unwrap();
    let user = root.path().to_str().unwrap();
    refused(&unsaid, &env([("HOME", user), ("TERM", "")], "HERMES_HOME"), "HERMES_HOME");
    refused(&unsaid, &env([("HERMES_HOME", "~/agent"), ("TERM", "")], "HOME"), "HOME");
    refused(&unsaid, &env([("TERM", ""), ("LANG", "C")], "HOME"), "HOME");
    let xdg = env([("HOME", user), ("HERMES_XDG", "1")], "XDG_DATA_HOME");
    refused(&unsaid, &xdg, "XDG_DATA_HOME");
    let no_profile = env([("HOME", user), ("TERM", "")], "HERMES_PROFILE");
    refused(&unsaid, &no_profile, "HERMES_PROFILE");
    let said = wanted(root.path(), Some("default"));
    assert!(Home::locate(&said, &no_profile).is_ok());
    assert!(Home::locate(&unsaid, &env([("HOME", user), ("TERM", "")], "OTHER")).is_ok());
}

#[test]
fn the_memory_is_in_the_home_unless_a_setting_moves_it() {
    let env = Env::of([("HOME", "/home/alice")]);
    let home = Home::locate(&wanted(Path::new("/srv/h"), None), &env).unwrap();
    let place = |setting| home.memory_db(setting, &env).unwrap();
    assert_eq!(place(None), Path::new("/srv/h/memory.db"));
    assert_eq!(place(Some(" ")), Path::new("/srv/h/memory.db"));
    assert_eq!(place(Some("~/m.db")), Path::new("/home/alice/m.db"));
    assert_eq!(place(Some("data/m.db")), Path::new("/srv/h/data/m.db"));
    assert_eq!(place(Some("/data/m.db")), Path::new("/data/m.db"));
}

#[test]
fn xdg_counts_when_asked_for_or_when_it_is_the_only_home() {
    let user = tempfile::tempdir().unwrap();
    let data = user.path().join("data");
    let text = |path: &Path| path.to_str().unwrap().to_owned();
    let (user_text, data_text) = (text(user.path()), text(&data));
    let env = Env::of([("HOME", &user_text), ("XDG_DATA_HOME", &data_text)]);
    let locate = |env: &Env| Home::locate(&Wanted::default(), env).unwrap().root().to_owned();
    assert_eq!(locate(&env), user.path().join(".hermes"));
    std::fs::create_dir_all(data.join("hermes")).unwrap();
    assert_eq!(locate(&env), data.join("hermes"));
    std::fs::create_dir_all(user.path().join(".hermes")).unwrap();
    assert_eq!(locate(&env), user.path().join(".hermes"));
    let asked = Env::of([("HOME", &user_text), ("XDG_DATA_HOME", &data_text), ("HERMES_XDG", "1")]);
    assert_eq!(locate(&asked), data.join("hermes"));
}

#[test]
fn a_profile_that_does_not_exist_is_an_error_that_names_the_nearest() {
    let root = tempfile::tempdir().unwrap();
    std::fs::create_dir_all(root.path().join("profiles/coder")).unwrap();
    let env = Env::default();
    let found = Home::locate(&wanted(root.path(), Some("coder")), &env).unwrap();
    assert_eq!(found.folder(), root.path().join("profiles/coder"));
    let missing = Home::locate(&wanted(root.path(), Some("codr")), &env);
    assert!(
        matches!(missing, Err(Error::NoProfile { nearest: Some(near), .. }) if near == "coder")
    );
    assert!(!root.path().join("profiles/codr").exists());
}

#[test]
fn a_profile_folder_given_as_home_is_that_profile_of_its_root() {
    let root = tempfile::tempdir().unwrap();
    let folder = root.path().join("profiles/coder");
    std::fs::create_dir_all(&folder).unwrap();
    let home = Home::locate(&wanted(&folder, None), &Env::default()).unwrap();
    assert_eq!((home.root(), home.profile_name()), (root.path(), "coder"));
    assert_eq!(home.chosen_by(), ChosenBy::Folder);
    let root_home = Home::locate(&wanted(&folder, Some("default")), &Env::default()).unwrap();
    assert_eq!(root_home.folder(), root.path());
}
